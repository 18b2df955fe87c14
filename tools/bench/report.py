"""Figures, goals, table, JSON."""

import json
import math


class Report:
    def __init__(self):
        self.lines, self.goals, self.controls = [], [], []

    def figure(self, measure, program, value, unit, runs=None):
        self.lines.append({"measure": measure, "program": program, "value": value, "unit": unit, "runs": runs})

    def goal(self, text, limit, value, met, unit=""):
        if isinstance(value, float) and not math.isfinite(value):
            value, met = None, False
        self.goals.append({"goal": text, "limit": limit, "value": value, "unit": unit, "met": bool(met)})

    def at_most(self, text, limit, value, unit=""):
        self.goal(text, f"<= {limit}", value, value is not None and value <= limit, unit)

    def at_least(self, text, limit, value, unit=""):
        self.goal(text, f">= {limit}", value, value is not None and value >= limit, unit)

    def control(self, text, noticed):
        self.controls.append({"control": text, "noticed": bool(noticed)})

    @property
    def all_good(self):
        return all(goal["met"] for goal in self.goals) and all(control["noticed"] for control in self.controls)

    def print(self):
        for measure in dict.fromkeys(line["measure"] for line in self.lines):
            print(f"\n{measure}")
            for line in self.lines:
                if line["measure"] == measure:
                    runs = f"   of {', '.join(map(shown, line['runs']))}" if line["runs"] else ""
                    print(f"  {line['program']:<22} {shown(line['value']):>12} {line['unit']}{runs}")
        print(f"\n{'goal':<66} {'limit':>10} {'value':>12}")
        for goal in self.goals:
            print(f"{goal['goal']:<66} {goal['limit']:>10} {shown(goal['value']):>12} {goal['unit']:<6} {'met' if goal['met'] else 'NOT MET'}")
        for control in self.controls:
            print(f"control: {control['control']}: {'noticed' if control['noticed'] else 'NOT NOTICED'}")

    def write(self, path, about):
        with open(path, "w") as file:
            json.dump({"about": about, "figures": self.lines, "goals": self.goals, "controls": self.controls}, file, indent=1)


def shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
