# Runs a program on a terminal, types a text when it asks for one, and prints what it
# showed. \t is a tab and \n the end of a line, behind each of which it is waited until
# the program has nothing more to say.
import os, pty, re, select, sys

program, text = sys.argv[1], sys.argv[2]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", INPUTRC="/dev/null")
    os.execv(program, [program, "-X"])

shown = b""


def hear(least, most=10.0):
    """Reads until nothing has come for a while, and something has."""
    global shown
    came = False
    while True:
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
        came = True


hear(0.2)
for part in re.split(r"(\\t|\\n)", text):
    typed = {r"\t": b"\t", r"\n": b"\n"}.get(part, part.replace("\\\\", "\\").encode())
    if typed:
        os.write(terminal, typed)
        hear(0.2, 0.8)
os.close(terminal)
os.waitpid(pid, 0)
sys.stdout.write(re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x07|\r", b"", shown).decode())
