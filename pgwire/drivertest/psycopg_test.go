package drivertest

import "testing"

// python is the one that Debian's packages are for; another of PATH may have none.
const python = "/usr/bin/python3"

// TestPsycopg runs a program of Python, whose transcript is held against a file.
func TestPsycopg(t *testing.T) {
	s := filled(t)
	if out, err := s.run(t, "", python, "-c", "import psycopg"); err != nil {
		t.Fatalf("%v; install it: make drivers, or apt-get install python3-psycopg\n%s", err, out)
	}
	out, err := s.run(t, "", python, "testdata/transcript.py")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	golden(t, "psycopg.out", out)
}
