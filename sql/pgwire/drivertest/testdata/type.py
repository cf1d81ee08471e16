# Runs a program on a terminal, types a text at its prompt, and prints the output of the
# program. \t is a tab: the script then waits until the program has printed nothing for a
# while. \n is the end of a line: the script then waits for the next prompt, which ends
# with "# ", or with "> " for users who are no superusers. \r is the end of a line after
# which the program asks for something: the script then waits for a question, which ends
# with ": ".
import os, pty, re, select, sys

PROMPTS = (b"# ", b"> ")
program, text = sys.argv[1], sys.argv[2]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", INPUTRC="/dev/null")
    os.execv(program, [program, "-X"])

shown = b""


def read_terminal(quiet, timeout, end=None):
    """Reads until the output ends with end. Without an end: reads until output arrived and then stopped for quiet seconds."""
    global shown
    start = len(shown)
    while end is None or not shown[start:].endswith(end):
        came = len(shown) > start and end is None
        ready, _, _ = select.select([terminal], [], [], quiet if came else timeout)
        if not ready:
            return
        try:
            more = os.read(terminal, 65536)
        except OSError:
            return
        if not more:
            return
        shown += more


read_terminal(0.2, 10.0, PROMPTS)
for part in re.split(r"(\\t|\\n|\\r)", text):
    typed = {r"\t": b"\t", r"\n": b"\n", r"\r": b"\n"}.get(part, part.replace("\\\\", "\\").encode())
    if typed:
        os.write(terminal, typed)
        if typed == b"\n":
            read_terminal(0.2, 10.0, b": " if part == r"\r" else PROMPTS)
        else:
            read_terminal(0.2, 0.8)
os.close(terminal)
os.waitpid(pid, 0)
sys.stdout.write(re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x07|\r", b"", shown).decode())
