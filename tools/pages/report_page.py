"""The report in a browser. It is static: checks only that it is complete, readable and two pages long on paper."""

import base64
import datetime
import os
import re
import subprocess

import drives
import stored_tests
import stores


def write(program, directory, name, fences, *arguments, tests=0):
    """The address of a report on a store of these fences, and of speed tests along them."""
    folder = os.path.join(directory, name)
    os.mkdir(folder)
    configuration = stores.make_empty(program, folder)
    drives.fill(os.path.join(folder, "coverage.sqlite"), fences)
    # Every test has a place, because a report of a box leaves out tests without one.
    starts = [drives.START_US + number * 40_000_000 for number in range(tests)]
    stored_tests.fill(os.path.join(folder, "coverage.sqlite"), name, starts, place=(48.21, 16.37))
    page = os.path.join(directory, f"{name}.html")
    subprocess.run([program, "report", "--config", configuration, "-o", page, *arguments], check=True)
    return "file://" + page


def pages_of(browser):
    paper = base64.b64decode(browser.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
    return paper, len(re.findall(rb"/Type\s*/Page\b", paper))


def test(options, tools, program, directory, findings, driver):
    """`tools` has the helpers of test-pages for all pages."""
    half = time_of(drives.START_US + 60 * 40_000_000)
    for name, tests, tables, notes, arguments in (
            ("report", 0, 4, 9, ()), ("report with speed tests", 120, 6, 10, ()),
            ("comparison", 0, 7, 10, ("--to", half, "--with-from", half, "--with-to", "2027-12-31")),
            ("comparison of speed tests", 120, 9, 12, ("--to", half, "--with-from", half, "--with-to", "2027-12-31"))):
        page = write(program, directory, name.replace(" ", "-"), 1600, *arguments, tests=tests)
        for width, is_dark in ((1280, False), (1280, True), (390, False), (390, True)):
            findings.where = f"{name}, {width} px, {'dark' if is_dark else 'light'}: "
            browser = tools.Browser(driver, width, 1000, is_dark=is_dark, touch=width < 500)
            try:
                look(browser, options, tools, findings, page, tables, notes)
            finally:
                browser.end()


def time_of(microseconds):
    return datetime.datetime.fromtimestamp(microseconds // 1_000_000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def look(browser, options, tools, findings, page, tables, notes):
    browser.open(page)
    shown = browser.run("return {tables: document.querySelectorAll('table').length, maps: document.querySelectorAll('svg circle').length,"
                        "notes: document.querySelectorAll('ol li').length, title: document.title}")
    findings.check(shown["tables"] == tables and shown["maps"] > 3 and shown["notes"] == notes and shown["title"], f"is whole: {shown}")
    broken = browser.run("return [...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length")
    findings.check(broken == 0, "each footnote leads to its text")
    tools.accessible(browser, findings)
    tools.quiet(browser, findings)
    name = re.sub(r"\W+", "-", findings.where).strip("-")
    if options.pictures:
        browser.picture(os.path.join(options.pictures, f"{name}.png"))
    if "1280" in name:
        paper, pages = pages_of(browser)
        findings.check(pages == 2, f"is {pages} pages on paper")
        if options.pictures:
            with open(os.path.join(options.pictures, f"{name}.pdf"), "wb") as file:
                file.write(paper)
