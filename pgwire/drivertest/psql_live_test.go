package drivertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestPsqlCompletes types into psql on a terminal, with tabs where a person wants to be
// told what there is.
func TestPsqlCompletes(t *testing.T) {
	s := filled(t)
	for _, test := range []struct{ typed, want string }{
		{`SELECT * FROM sys.jo\t\t\t`, "sys.job_dependencies sys.job_runs sys.jobs"},
		{`SELECT * FROM sys.nod\t`, "SELECT * FROM sys.nodes"},
		{`SELECT * FROM job_r\t`, "SELECT * FROM job_runs"},
		{`SELECT * FROM sys.jobs WHERE next\t\t\t`, "next_run_time next_run_time_ts"},
		{`SELECT * FROM pg_catalog.pg_nam\t`, "pg_catalog.pg_namespace"},
		{`SHOW sear\t`, "SHOW search_path"},
		{`\\d sys.sched\t`, `\d sys.schedules`},
		{`\\dn s\t`, `\dn sys`},
		{`SET time\t`, "SET timezone"},
	} {
		t.Run(test.typed, func(t *testing.T) {
			t.Parallel()
			out, err := s.run(t, "", python, "testdata/type.py", program(t, "psql", "postgresql-client"), test.typed)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(strings.Join(strings.Fields(out), " "), test.want) {
				t.Errorf("it shows\n%s\nwant %s", out, test.want)
			}
		})
	}
}

// TestPsqlPrompt sees the prompt tell how a transaction stands, which the server says.
func TestPsqlPrompt(t *testing.T) {
	s := start(t)
	out, err := s.run(t, "", python, "testdata/type.py", program(t, "psql", "postgresql-client"), `BEGIN;\nSELECT wrong;\nROLLBACK;\nSELECT\n1;\n`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	at := 0
	for _, want := range []string{"rota=# BEGIN;", "rota=*# SELECT wrong;", "rota=!# ROLLBACK;", "rota=# SELECT", "rota-# 1;", "(1 row)", "rota=# "} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("there is no %q behind the first %d bytes of\n%s", want, at, out)
		}
		at += i
	}
}

// TestPsqlWatches lets psql ask the same again and again, and interrupts it.
func TestPsqlWatches(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program(t, "psql", "postgresql-client"), "-X", "-A", "-t", s.url())
	command.Stdin = strings.NewReader("SELECT 'again' \\watch 0.02\n")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	told := 0
	for lines := bufio.NewScanner(out); told < 3 && lines.Scan(); {
		if strings.Contains(lines.Text(), "again") {
			told++
		}
	}
	if told < 3 {
		t.Errorf("it was told %d times", told)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); ctx.Err() != nil {
		t.Errorf("it went on although it was interrupted: %v", err)
	}
}
