# Runs a program on a terminal, types a text when it asks for one, and prints what it
# showed. \t is a tab, after which it waits until the program has shown nothing for a
# while. \n is the end of a line, after which it waits for the next prompt, which ends
# with "# ".
import os, pty, re, select, sys

program, text = sys.argv[1], sys.argv[2]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", INPUTRC="/dev/null")
    os.execv(program, [program, "-X"])

shown = b""


def hear(least, most, end=None):
    """Reads until nothing has come for a while, and something has, or up to an end."""
    global shown
    start = len(shown)
    while end is None or not shown[start:].endswith(end):
        came = len(shown) > start and end is None
        ready, _, _ = select.select([terminal], [], [], least if came else most)
        if not ready:
            return
        try:
            more = os.read(terminal, 65536)
        except OSError:
            return
        if not more:
            return
        shown += more


hear(0.2, 10.0, b"# ")
for part in re.split(r"(\\t|\\n)", text):
    typed = {r"\t": b"\t", r"\n": b"\n"}.get(part, part.replace("\\\\", "\\").encode())
    if typed:
        os.write(terminal, typed)
        if typed == b"\n":
            hear(0.2, 10.0, b"# ")
        else:
            hear(0.2, 0.8)
os.close(terminal)
os.waitpid(pid, 0)
sys.stdout.write(re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x07|\r", b"", shown).decode())
