package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
)

// groupOfTwo creates a group and returns its id and the ids of its members, which differ only after their time.
func (s *testServer) groupOfTwo(job string) (group string, members []string) {
	s.t.Helper()
	answer := s.must(fmt.Sprintf("group create --job '%s' --job '%s' --output json", job, job))
	var made struct {
		ID   string
		Jobs []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		s.t.Fatal(err)
	}
	return made.ID, []string{made.Jobs[0].ID, made.Jobs[1].ID}
}

// TestBeginningOfIDNamesTheObject: every command that takes an id takes its beginning, also in filters.
func TestBeginningOfIDNamesTheObject(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	group, jobs := s.groupOfTwo("noop")
	n := distinctLength(append([]string{group}, jobs...))
	short, other := jobs[0][:n], jobs[1][:n]
	for _, line := range []string{
		"job show " + short, "job show " + strings.ToUpper(short), "explain " + short, "job explain " + short, "execution show " + short,
		"job list --execution " + short, "audit --execution " + short,
		"job priority " + short + " 5", "job move " + short + " --top", "job move " + short + " --before " + other, "job edit " + short + " --delay 1h",
		"job run-now " + short, "job list --group " + group[:n], "execution list --group " + group[:n], "group show " + group[:n],
		"job cancel " + short, "job retry " + short, "group cancel " + group[:n],
	} {
		out, errs, code := s.run(line)
		want := jobs[0]
		if strings.Contains(line, "explain") || strings.HasPrefix(line, "group cancel") {
			want = ""
		}
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s exits with %d: %s%s", line, code, out, errs)
		}
	}
	if out := s.must("job show " + jobs[1]); !strings.Contains(out, "cancelled") {
		t.Errorf("the group was not cancelled: %s", out)
	}
	s.run("job create fail --wait -p permanent=true -p message=x")
	dead := idShape.FindString(s.must("dead list"))
	s.must("job logs " + dead)
	for _, line := range []string{"dead retry " + dead[:35], "job logs " + dead[:35]} {
		if out, errs, code := s.run(line); code != exitDone {
			t.Errorf("%s exits with %d: %s%s", line, code, out, errs)
		}
	}
}

// TestAmbiguousBeginningListsCandidates: the error shows what tells the jobs apart and how many characters are needed,
// and nothing is changed.
func TestAmbiguousBeginningListsCandidates(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	_, jobs := s.groupOfTwo("noop")
	for _, line := range []string{"job show ", "explain ", "job cancel ", "job move --top ", "job list --execution ", "audit --execution ", "job logs ", "job retry "} {
		out, errs, code := s.run(line + jobs[0][:9])
		if code != exitUsage || out != "" {
			t.Errorf("%s exits with %d: %s%s", line, code, out, errs)
		}
		needed := jobs[0][:distinctLength(jobs)]
		for _, want := range []string{
			"rota: " + jobs[0][:9] + " is not unique: it stands for 2 jobs", jobs[0], jobs[1], "noop", "queued", "CREATED", "UTC",
			fmt.Sprintf("hint: write an id, or its first %d characters", len(needed)),
		} {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: no %q in\n%s", line, want, errs)
			}
		}
	}
	if list := s.must("job list"); strings.Count(list, "queued") != 2 {
		t.Errorf("a job was changed:\n%s", list)
	}
	beginning := ""
	for beginning == "" { // 11 groups of the same 65 seconds have the same beginning
		var ids []string
		for range candidatesMax + 1 {
			group, _ := s.groupOfTwo("noop")
			ids = append(ids, group)
		}
		if ids[0][:8] == ids[candidatesMax][:8] {
			beginning = ids[0][:8]
		}
	}
	if out, errs, code := s.run("group show " + beginning); code != exitUsage || !strings.Contains(errs, "more than 10 groups") || strings.Contains(errs, "TYPE") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestDistinctLength(t *testing.T) {
	for _, row := range []struct {
		ids  []string
		want int
	}{
		{[]string{"01926a5e-7c3b-7f3a"}, 8},
		{[]string{"01926a5e-7c3b-7f3a", "02926a5e-7c3b-7f3a"}, 8},
		{[]string{"01926a5e-7c3b-7f3a", "01926a5e-7c3c-7f3a", "01926a5e-8c3c-7f3a"}, 13},
		{[]string{"01926a5e-7c3b-7f3a", "01926a5e-7c3b-7f3b"}, 18},
	} {
		if got := distinctLength(row.ids); got != row.want {
			t.Errorf("%v need %d characters, want %d", row.ids, got, row.want)
		}
	}
}

func TestTakenTextSaysWhenInWordsOfTables(t *testing.T) {
	now := time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC)
	a := &app{environment: environment{now: func() time.Time { return now }}}
	at := func(d time.Duration) api.Time { return api.Time{Time: now.Add(d)} }
	for want, job := range map[string]api.Job{
		"running for 5s":           {State: "running", StartedAt: at(-5 * time.Second)},
		"running for 1s":           {State: "running", StartedAt: at(0)}, // never an empty distance
		"completed 20s ago":        {State: "completed", StartedAt: at(-time.Minute), FinishedAt: at(-20 * time.Second)},
		"scheduled, starts in 10m": {State: "scheduled", RunAt: at(10 * time.Minute)},
		"queued":                   {State: "queued"},
	} {
		if got := a.takenText(job); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
