package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// connections are what clients have open at one moment and not at another.
const connections = 4

// soakRate is how many commands start in a minute.
const soakRate = 1000

// serverUsage is what a server has at a moment.
type serverUsage struct {
	residentKB, files, threads, children, zombies int
}

func (u serverUsage) String() string {
	return fmt.Sprintf("RSS %d KiB, %d descriptors, %d threads, %d children, %d zombies", u.residentKB, u.files, u.threads, u.children, u.zombies)
}

// TestCommandsOfManyMinutesLeaveNothing runs 1,000 commands a minute for ROTA_SOAK_TIME (make soak-exec: 10 minutes). Without it a few
// seconds show that the measurement works.
func TestCommandsOfManyMinutesLeaveNothing(t *testing.T) {
	length := 6 * time.Second
	if text := os.Getenv("ROTA_SOAK_TIME"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("skipped: it takes several seconds")
	}
	s := startExecServer(t, "allow: [/bin/sh, /bin/true, /bin/echo]")
	token, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	post := func(n int) {
		t.Helper()
		job := map[string]any{"type": "exec", "max_retries": 0, "params": map[string]any{"command": "/bin/sh", "args": []string{"-c", "/bin/true; (echo {} >&2 &); echo '{}'"}}}
		jobs := make([]any, n)
		for i := range jobs {
			jobs[i] = job
		}
		body, _ := json.Marshal(map[string]any{"jobs": jobs})
		r, err := http.NewRequest("POST", serverURL(t, s)+"/api/v1/jobs/batch", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode/100 != 2 {
			t.Fatalf("the server answered %s", res.Status)
		}
	}
	const batch = 10
	const every = time.Minute * batch / soakRate
	created := 0
	run := func(d time.Duration) {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for end := time.Now().Add(d); time.Now().Before(end); <-ticker.C {
			post(batch)
			created += batch
		}
	}
	pid := s.process.Process.Pid
	idle := func(when string) serverUsage {
		t.Helper()
		var u serverUsage
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
			jobs := s.must("job list --type exec --state queued,running -o json")
			if u = usageOf(t, pid); idShape.FindString(jobs) == "" && u.children == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s the server has %v, and jobs %s", when, u, jobs)
			}
		}
		t.Logf("%s, after %d commands: %v", when, created, u)
		return u
	}
	run(length / 5) // caches and the pool of connections fill
	before := idle("before")
	for range 4 {
		run(length / 5)
		t.Logf("after %d commands, while they run: %v", created, usageOf(t, pid))
	}
	after := idle("after")
	if after.zombies > 0 || after.files > before.files+connections {
		t.Errorf("%v, then %v", before, after)
	}
	if growth := after.residentKB - before.residentKB; growth > max(before.residentKB/4, 16<<10) {
		t.Errorf("the memory has grown by %d KiB", growth)
	}
	if failed := s.must("job list --type exec --state failed -o json"); idShape.FindString(failed) != "" {
		t.Error(failed)
	}
	stats := s.must("type show exec -o json")
	t.Logf("created %d; type: %.300s", created, stats)
}

// usageOf reads what a process uses, and counts its children.
func usageOf(t *testing.T, pid int) (u serverUsage) {
	t.Helper()
	proc := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(proc + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "VmRSS":
			fmt.Sscan(value, &u.residentKB)
		case "Threads":
			fmt.Sscan(value, &u.threads)
		}
	}
	files, err := os.ReadDir(proc + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	u.files = len(files)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var state string
		var parent int
		fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &state, &parent)
		if parent != pid {
			continue
		}
		u.children++
		if state == "Z" {
			u.zombies++
		}
	}
	return u
}
