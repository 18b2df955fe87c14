"""The project's stand-ins for the outside world, as processes."""

import os
import re
import subprocess
import time


class Server:
    """A tool of `directory` that prints its `address`. Its output goes to the file `log`."""

    def __init__(self, directory, name, *arguments, log, announced=None):
        """`announced`: the text before the address, unless it is the tool's name."""
        self.name, self.announced = name, announced or f"{name}: listening on "
        with open(log, "w") as output:
            self.process = subprocess.Popen([os.path.join(directory, name), *arguments],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            self.address = self._wait_for_address(log)
        except BaseException:
            self.stop()
            raise

    def _wait_for_address(self, log):
        for _ in range(1200):
            with open(log) as file:
                text = file.read()
            if found := re.search(rf"^{re.escape(self.announced)}(\S+)\n", text, re.M):
                return found[1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"{self.name} did not start: {text}")

    @property
    def port(self):
        return int(re.search(r":(\d+)(/|$)", self.address)[1])

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
