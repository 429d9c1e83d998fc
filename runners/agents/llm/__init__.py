"""`llm:PROVIDER/MODEL`: a language model at any OpenAI-compatible endpoint plays.

Invariant: what the endpoint does wrong is never the model's failure, and what the model does wrong is never an error;
keys come from the environment and go nowhere else. Only `connection` imports the openai package.
"""
