package drivertest

import "testing"

// python is the interpreter that has Debian's packages; another one in PATH may not have them.
const python = "/usr/bin/python3"

// The output of a Python program equals the transcript.
func TestPsycopgTranscript(t *testing.T) {
	s := startWithHistory(t)
	if out, err := s.run(t, "", python, "-c", "import psycopg"); err != nil {
		t.Fatalf("%v; install it: make drivers, or apt-get install python3-psycopg\n%s", err, out)
	}
	out, err := s.run(t, "", python, "testdata/transcript.py")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	golden(t, "psycopg.out", out)
}
