"""The page in a real Chromium: it sorts, filters, shows its plots, turns dark, and fits a phone."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from reports.build import build_report
from runners.records import AgentIdentity
from tests.reports.synthetic_records import PLAYERS, run_records, write_run

pytestmark = pytest.mark.browser
HOSTILE = replace(PLAYERS[3], identity=AgentIdentity(name="<img src=x onerror=document.title='owned'>"))
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = write_run(folder / "run", run_records(players=(*PLAYERS, HOSTILE), attempts=8))
    return build_report([run], folder / "out").page


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


@pytest.mark.parametrize("width", [320, 390, 768])
def test_no_page_scrolls_sideways(browser: webdriver.Chrome, width: int) -> None:
    show(browser, width=width, height=844, scheme="light")
    root = "document.documentElement"
    assert browser.execute_script(f"return {root}.scrollWidth - {root}.clientWidth") == 0


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
