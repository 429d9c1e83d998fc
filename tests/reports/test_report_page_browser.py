"""The page in a real Chromium: it sorts, filters, shows its plots, turns dark, and fits a phone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import axe_core_python
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from reports.build import build_report
from runners.records import AgentIdentity, TrialRecord
from tests.reports.synthetic_records import PLAYERS, run_records, write_run

pytestmark = pytest.mark.browser
HOSTILE = replace(PLAYERS[3], identity=AgentIdentity(name="<img src=x onerror=document.title='owned'>"))
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


# Colours, a bar that draws over itself, overstriking, a title, a hidden word, a word written backwards, markup.
LOUD = (
    "\x1b[1;31merror\x1b[0m \x1b[38;5;40mfine\x1b[m \x1b[38;2;0;0;255mblue\x1b[39m\r\n"
    "10%\r100%\n"
    "ab\bc\x1b]0;title\x07\x1b[8mhidden\x1b[0m\u202egnp.exe "
    "<b>bold</b></script><script>document.title='owned'</script>\x00"
)


def loud(record: TrialRecord) -> TrialRecord:
    """The same, but its first turn thinks, shouts and earns something."""
    first = replace(record.turns[0], output=LOUD, think="<i>hm</i>", reward=0.25, cascades=("flood",))
    return replace(record, turns=(first, replace(record.turns[1], reward=-0.5), *record.turns[2:]))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    records = run_records(players=(*PLAYERS, HOSTILE), attempts=8)
    gold = next(place for place, each in enumerate(records) if each.trial.agent.name == "gold")
    records[gold] = loud(records[gold])
    worse = run_records(players=(replace(PLAYERS[4], meets=1.0, transfers=1.0), *PLAYERS[1:4]), attempts=8, seed=3)
    run, baseline = write_run(folder / "run", records), write_run(folder / "baseline", worse)
    return build_report([run], folder / "out", baseline=baseline).page


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = Options()
    options.binary_location = binary
    for flag in (*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome, page: Path) -> webdriver.Chrome:
    """The page, fresh, on a desktop in light mode."""
    show(chromium, width=1360, height=900, scheme="light")
    chromium.get(page.as_uri())
    chromium.execute_script("localStorage.clear()")
    chromium.get(page.as_uri())
    return chromium


def show(chromium: webdriver.Chrome, *, width: int, height: int, scheme: str) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def column(browser: webdriver.Chrome, name: str, table: str = "leaderboard") -> list[str]:
    cells = browser.find_elements(By.CSS_SELECTOR, f"#{table} tbody .c-{name}")
    return [cell.get_attribute("data-value") or "" for cell in cells if cell.is_displayed()]


def heading(browser: webdriver.Chrome, name: str, table: str = "leaderboard") -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, f"#{table} thead .c-{name}")


def brightness(browser: webdriver.Chrome) -> int:
    colour = browser.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
    return sum(int(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3])


def test_the_console_stays_silent_and_nothing_hostile_ran(browser: webdriver.Chrome) -> None:
    assert browser.get_log("browser") == []
    assert "owned" not in browser.title
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_tables_sort_on_click(browser: webdriver.Chrome) -> None:
    button = heading(browser, "harm").find_element(By.TAG_NAME, "button")
    button.click()
    harm = [float(value) for value in column(browser, "harm")]
    assert harm == sorted(harm, reverse=True)
    assert len(set(harm)) > 2
    assert heading(browser, "harm").get_attribute("aria-sort") == "descending"
    button.click()
    assert [float(value) for value in column(browser, "harm")] == sorted(harm)
    assert heading(browser, "harm").get_attribute("aria-sort") == "ascending"
    heading(browser, "agent").find_element(By.TAG_NAME, "button").click()
    names = column(browser, "agent")
    assert names == sorted(names, key=str.lower)
    assert heading(browser, "harm").get_attribute("aria-sort") == "none"


def test_tables_sort_by_keyboard_and_keep_missing_figures_last(browser: webdriver.Chrome) -> None:
    button = heading(browser, "commands_to_repair").find_element(By.TAG_NAME, "button")
    browser.execute_script("arguments[0].focus()", button)
    for key, order in ((Keys.ENTER, "descending"), (Keys.SPACE, "ascending")):
        button.send_keys(key)
        assert heading(browser, "commands_to_repair").get_attribute("aria-sort") == order
        values = column(browser, "commands_to_repair")
        figures = [float(value) for value in values if value]
        assert figures == sorted(figures, reverse=order == "descending")
        assert values[-1] == ""


def test_rows_are_filtered_by_every_word(browser: webdriver.Chrome) -> None:
    box = browser.find_element(By.ID, "gate-filter")
    before = len(column(browser, "agent", "gate"))
    box.send_keys("BAD twin")
    shown = column(browser, "agent", "gate")
    assert shown == ["bad"] * 3
    assert browser.find_element(By.ID, "gate-told").text == f"3 of {before} rows"
    box.clear()
    box.send_keys(" ")
    assert len(column(browser, "agent", "gate")) == before


def test_the_plots_show(browser: webdriver.Chrome) -> None:
    plots = browser.find_elements(By.CSS_SELECTOR, "figure svg")
    assert len(plots) == 4
    for plot in plots:
        assert plot.rect["width"] > 300
        assert plot.rect["height"] > 120
        assert plot.get_attribute("aria-label")
        widths = "return [...arguments[0].querySelectorAll('path')].map((path) => path.getBoundingClientRect().width)"
        assert sum(width > 2 for width in browser.execute_script(widths, plot)) > 5


def test_dark_follows_the_system_and_the_button_overrides_it(browser: webdriver.Chrome, page: Path) -> None:
    assert brightness(browser) > 600
    show(browser, width=1360, height=900, scheme="dark")
    assert brightness(browser) < 150
    label = browser.find_element(By.CSS_SELECTOR, "#plot-leaderboard svg text")
    assert label.value_of_css_property("fill") != "rgb(0, 0, 0)"
    button = browser.find_element(By.ID, "theme")
    button.click()
    assert (button.text, brightness(browser) > 600) == ("Theme: light", True)
    browser.get(page.as_uri())
    assert brightness(browser) > 600
    browser.find_element(By.ID, "theme").click()
    assert brightness(browser) < 150


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: webdriver.Chrome, scheme: str) -> None:
    """WCAG contrast of at least 4.5 for all texts on the page's own ground."""
    show(browser, width=1360, height=900, scheme=scheme)
    worst = browser.execute_script(
        """
        const paint = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
        const luminance = (colour) => {
          paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
          const [r, g, b] = Array.from(paint.getImageData(0, 0, 1, 1).data).map((v) => v / 255)
            .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = luminance(getComputedStyle(document.body).backgroundColor);
        return [...document.querySelectorAll("h1, h2, p, th, td, small, dt, dd, a, button, .tag, li, label, span")]
          .filter((e) => e.textContent.trim() && e.offsetParent && !e.closest(".skip"))
          .map((e) => {
            const text = luminance(getComputedStyle(e).color);
            const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
            return [ratio, e.outerHTML.slice(0, 120)];
          }).sort((a, b) => a[0] - b[0])[0];
        """
    )
    assert worst[0] >= 4.5, worst


@pytest.mark.parametrize("width", [320, 390, 768, 1100])
def test_no_page_scrolls_sideways(browser: webdriver.Chrome, page: Path, width: int) -> None:
    show(browser, width=width, height=844, scheme="light")
    for path in every_page(page):
        browser.get(path.as_uri())
        root = "document.documentElement"
        assert browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth") == 0, path


def every_page(page: Path) -> list[Path]:
    """One of each kind."""
    return [page, page.parent / "episodes.html"] + [
        sorted((page.parent / kind).glob(f"{name}-*.html"))[0]
        for kind, name in (("agents", "gold"), ("scenarios", "process"))
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(browser: webdriver.Chrome, page: Path, scheme: str) -> None:
    show(browser, width=1360, height=900, scheme=scheme)
    library = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    for path in every_page(page):
        browser.get(path.as_uri())
        if path.name == "episodes.html":
            told(browser)
            audit(browser, library, path.name)
            open_episode(browser)
        audit(browser, library, path.name)


def audit(browser: webdriver.Chrome, library: str, name: str) -> None:
    # Into a world of its own: the page's policy lets no other script in.
    found = browser.execute_cdp_cmd(
        "Runtime.evaluate",
        {"expression": f"{library}; axe.run().then((found) => JSON.stringify(found.violations.map((each) => "
                       "[each.id, each.nodes[0].html.slice(0, 200), each.nodes[0].failureSummary])))",
         "awaitPromise": True, "returnByValue": True},
    )  # fmt: skip
    assert json.loads(found["result"]["value"]) == [], name


# -- the viewer of episodes


def told(browser: webdriver.Chrome) -> str:
    """How many episodes the list says that it shows, once it does."""
    WebDriverWait(browser, 10).until(lambda driver: "episodes" in driver.find_element(By.ID, "told").text)
    return browser.find_element(By.ID, "told").text


def open_episode(browser: webdriver.Chrome) -> None:
    browser.find_element(By.CSS_SELECTOR, "#episodes tbody a").send_keys(Keys.ENTER)
    WebDriverWait(browser, 10).until(lambda driver: driver.find_element(By.ID, "episode").is_displayed())


@pytest.fixture
def viewer(browser: webdriver.Chrome, page: Path) -> webdriver.Chrome:
    browser.get((page.parent / "episodes.html").as_uri())
    told(browser)
    return browser


def test_the_viewer_lists_every_episode_and_turns_pages(viewer: webdriver.Chrome) -> None:
    assert told(viewer) == f"{6 * 3 * 8 * 3} episodes"
    first = column(viewer, "world", "episodes"), viewer.find_element(By.ID, "where").text
    assert first[1] == "Page 1 of 5"
    viewer.execute_script("arguments[0].click()", viewer.find_element(By.ID, "on"))
    assert viewer.find_element(By.ID, "where").text == "Page 2 of 5"
    assert len(viewer.find_elements(By.CSS_SELECTOR, "#episodes tbody tr")) == 100
    assert viewer.get_log("browser") == []


def test_the_viewer_filters_and_sorts(viewer: webdriver.Chrome) -> None:
    Select(viewer.find_element(By.ID, "f-agent")).select_by_visible_text("random")
    WebDriverWait(viewer, 5).until(lambda driver: driver.find_element(By.ID, "told").text.startswith("72 of"))
    viewer.find_element(By.ID, "f-q").send_keys("process decoy")
    WebDriverWait(viewer, 5).until(lambda driver: driver.find_element(By.ID, "told").text.startswith("8 of"))
    heading(viewer, "commands", "episodes").find_element(By.TAG_NAME, "button").click()
    WebDriverWait(viewer, 5).until(
        lambda driver: heading(driver, "commands", "episodes").get_attribute("aria-sort") == "descending"
    )
    shown = [int(cell.text) for cell in viewer.find_elements(By.CSS_SELECTOR, "#episodes tbody .c-commands")]
    assert shown == sorted(shown, reverse=True)
    viewer.find_element(By.ID, "clear").click()
    WebDriverWait(viewer, 5).until(lambda driver: driver.find_element(By.ID, "told").text == "432 episodes")


def test_a_cell_of_the_heat_map_leads_to_its_episodes(browser: webdriver.Chrome) -> None:
    cell = browser.find_element(By.CSS_SELECTOR, ".heat tbody tr:last-child td:last-child a")
    browser.execute_script("arguments[0].click()", cell)
    WebDriverWait(browser, 10).until(lambda driver: driver.current_url.split("#")[0].endswith("episodes.html"))
    assert told(browser) == "24 of 432 episodes"


def test_one_episode_shows_its_transcript_as_a_terminal_would(viewer: webdriver.Chrome) -> None:
    viewer.find_element(By.ID, "f-q").send_keys("gold log-analysis primary")
    WebDriverWait(viewer, 5).until(lambda driver: driver.find_element(By.ID, "told").text.startswith("8 of"))
    open_episode(viewer)
    assert viewer.switch_to.active_element.get_attribute("id") == "episode-title"
    terminal = viewer.find_element(By.CSS_SELECTOR, "#turn-1 .terminal")
    assert terminal.text.splitlines() == [
        "error fine blue",
        "100%",
        "achidden\\u202egnp.exe <b>bold</b></script><script>document.title='owned'</script>\\u0000",
    ]
    styles = {span.text: span.get_attribute("class") for span in terminal.find_elements(By.TAG_NAME, "span")}
    assert (styles["error"], styles["fine"], styles["blue"]) == ("t-bold t-red", "t-green", "t-blue")
    assert viewer.find_element(By.CSS_SELECTOR, "#turn-1 .think").text == "<i>hm</i>"
    badges = [badge.text for badge in viewer.find_elements(By.CSS_SELECTOR, "#turn-1 .badge, #turn-2 .badge")]
    assert badges == ["+0.25", "exit 3", "cascade: flood", "−0.5", "exit 3"]
    chart = viewer.find_element(By.CSS_SELECTOR, "svg.rewards")
    assert "to −0.25, at most 0.25" in (chart.get_attribute("aria-label") or "")
    assert [link.text for link in viewer.find_elements(By.CSS_SELECTOR, "#episode .plain a")] == [
        "other vhost",
        "quiet night",
    ]
    assert viewer.get_log("browser") == []
    assert "owned" not in viewer.title
    viewer.back()
    WebDriverWait(viewer, 5).until(lambda driver: driver.find_element(By.ID, "list").is_displayed())
    assert (viewer.switch_to.active_element.get_attribute("id") or "").startswith("row-")


def test_the_evidence_of_a_regression_leads_to_its_episode(browser: webdriver.Chrome) -> None:
    link = browser.find_element(By.CSS_SELECTOR, "#regressions td.trials a")
    identifier = link.text
    browser.execute_script("arguments[0].click()", link)
    WebDriverWait(browser, 10).until(lambda driver: driver.find_element(By.ID, "episode").is_displayed())
    assert identifier in browser.find_element(By.ID, "episode").text
    assert browser.find_element(By.CSS_SELECTOR, ".standing .verdict").text != "VERIFIED"


def test_what_is_not_there_is_said(viewer: webdriver.Chrome) -> None:
    viewer.execute_script("location.hash = '#e=ffffffffffffffffffffff'")
    WebDriverWait(viewer, 5).until(lambda driver: "There is no episode" in driver.find_element(By.ID, "told").text)


def test_everything_interactive_has_a_name(browser: webdriver.Chrome) -> None:
    nameless = browser.execute_script(
        """
        const named = (e) => e.textContent.trim() || e.getAttribute("aria-label") || (e.labels && e.labels.length)
          || (e.getAttribute("aria-labelledby") && document.getElementById(e.getAttribute("aria-labelledby")));
        return [...document.querySelectorAll("button, a, input, [tabindex], table, section, [role=img]")]
          .filter((e) => !named(e)).map((e) => e.outerHTML.slice(0, 120));
        """
    )
    assert nameless == []
    levels = [int(each.tag_name[1]) for each in browser.find_elements(By.CSS_SELECTOR, "h1, h2, h3")]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
