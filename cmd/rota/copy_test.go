package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/transfer"
)

// TestCopyTranscript replays the transcript in a directory with valid and invalid stores.
func TestCopyTranscript(t *testing.T) {
	file, err := filepath.Abs("testdata/copy/copy.transcript")
	if err != nil {
		t.Fatal(err)
	}
	verifyFixture(t)
	replay(t, file, regenerateTranscript)
}

// TestCopyOfStoreWithSecondName: a copy marks its source, so it refuses one with a hard link.
func TestCopyOfStoreWithSecondName(t *testing.T) {
	verifyFixture(t)
	if err := os.Link("healthy.db", "second.db"); err != nil {
		t.Fatal(err)
	}
	out, errs, code := runLine("copy --from sqlite:healthy.db --to sqlite:new.db")
	if code != exitFailed || !strings.Contains(errs, "2 names") || !strings.Contains(errs, "--allow-links") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	out, errs, code = runLine("copy --from sqlite:healthy.db --to sqlite:new.db --allow-links")
	if code != exitDone {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// copyLock is an advisory lock that the table audit of a target waits for.
const copyLock = "4711"

// TestCopyResumesAfterSIGKILL kills the process of a copy while it writes the second of its tables with rows. A
// constraint on that table waits for a lock of the test, so that the process cannot end before.
func TestCopyResumesAfterSIGKILL(t *testing.T) {
	verifyFixture(t)
	url := emptyDatabase(t)
	target, err := postgres.OpenWith(url, postgres.Config{Poll: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = target.Close()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	change := func(sql string) {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	change(`CREATE FUNCTION public.wait() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(` + copyLock + `); RETURN true; END $$`)
	change(`ALTER TABLE rota.audit ADD CONSTRAINT waits CHECK (public.wait())`)
	change(`SELECT pg_advisory_lock(` + copyLock + `)`)
	process := exec.Command(os.Args[0], "copy", "--from", "sqlite:healthy.db", "--to", url, "--history")
	process.Env = []string{"ROTA_TEST_PROGRAM=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var output bytes.Buffer
	process.Stdout, process.Stderr = &output, &output
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	for waits := false; !waits; {
		select {
		case err := <-ended:
			t.Fatalf("the copy ended: %v\n%s", err, output.String())
		default:
		}
		err := conn.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_locks, pg_sleep(0.01) WHERE locktype = 'advisory' AND NOT granted AND objid = `+copyLock).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	change(`SELECT pg_advisory_unlock(` + copyLock + `)`)
	change(`ALTER TABLE rota.audit DROP CONSTRAINT waits`)
	if _, err := postgres.OpenWith(url, postgres.Config{Poll: true}); err == nil || !strings.Contains(err.Error(), "is not complete") {
		t.Errorf("the unfinished copy was opened: %v", err)
	}
	out, errs, code := runLine("copy --from sqlite:healthy.db --to " + url + " --history -o json")
	var result transfer.Result
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if !result.Resumed || result.Written == 0 || result.Written >= result.Rows {
		t.Errorf("result %+v", result)
	}
	if out, errs, code := runLine("verify --store " + url); code != exitDone || !strings.Contains(out, "checked 3 jobs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
