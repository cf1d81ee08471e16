package drivertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The test types into psql on a terminal. Each tab requests a completion.
func TestPsqlTabCompletion(t *testing.T) {
	s := startWithHistory(t)
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
			out, err := s.run(t, "", python, "testdata/type.py", findProgram(t, "psql", "postgresql-client"), test.typed)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(strings.Join(strings.Fields(out), " "), test.want) {
				t.Errorf("it shows\n%s\nwant %s", out, test.want)
			}
		})
	}
}

// The prompt of psql shows the transaction status that the server reports.
func TestPsqlPromptShowsTransactionStatus(t *testing.T) {
	s := startNode(t)
	out, err := s.run(t, "", python, "testdata/type.py", findProgram(t, "psql", "postgresql-client"), `BEGIN;\nSELECT wrong;\nROLLBACK;\nSELECT\n1;\n`)
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

// The command \password asks for a password, and sends a verifier of it.
func TestPsqlPasswordSetsPassword(t *testing.T) {
	s := startNode(t)
	s.exec(t, "CREATE USER ada")
	const password = `correct horse battery`
	out, err := s.run(t, "", python, "testdata/type.py", findProgram(t, "psql", "postgresql-client"), `\\password ada\r`+password+`\r`+password+`\n`)
	if err != nil || strings.Contains(out, "ERROR") {
		t.Fatalf("%v\n%s", err, out)
	}
	s.await(t, "SELECT has_password FROM sys.users WHERE name = 'ada'")
}

// The command \watch repeats a query until psql is interrupted.
func TestPsqlWatchRunsUntilInterrupted(t *testing.T) {
	s := startNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, findProgram(t, "psql", "postgresql-client"), "-X", "-A", "-t", s.url())
	command.Stdin = strings.NewReader("SELECT 'again' \\watch 0.02\n")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	answers := 0
	for lines := bufio.NewScanner(out); answers < 3 && lines.Scan(); {
		if strings.Contains(lines.Text(), "again") {
			answers++
		}
	}
	if answers < 3 {
		t.Errorf("psql printed %d answers, want 3", answers)
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); ctx.Err() != nil {
		t.Errorf("psql did not end after the interrupt: %v", err)
	}
}
