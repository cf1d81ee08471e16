package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/rotajobs/rota/store/sqlite"
)

// A page of jobs for users who may see a part of them.
const (
	pageCase     = "access/page"
	pageLastCase = "access/page/all"

	pageJobs        = 20_000
	pageSchedules   = 101
	pageRare        = 2 // jobs of the first schedule
	pageMost        = 3 // times the page of the admin
	pageConnections = 4
	pageRequests    = 10 // of a connection in a turn
)

// The users that read the page.
const (
	pageAdmin = "admin, all jobs"
	pageHalf  = "user, half of them"
	pageFew   = "user, 1 of 10,000"
	pageNone  = "user, none"
)

func pageBenchmarks() []benchmark {
	return []benchmark{{
		cases: []string{pageCase, pageLastCase},
		bars: []bar{
			{caseName: pageCase, subject: pageHalf, against: pageAdmin, most: pageMost},
			{caseName: pageCase, subject: pageFew, against: pageAdmin},
			{caseName: pageLastCase, subject: pageFew, against: pageAdmin},
		},
		run: runPage,
	}}
}

// pageReader is a user that reads pages.
type pageReader struct {
	name, user string
	sees       func(schedule int) bool // nil: none
	jobs       int                     // that it sees; -1: not checked
	token      string
}

// runPage reads the first page of 100 jobs as each user, and the whole list until its last page.
func runPage(b *bench) (err error) {
	all := max(pageSchedules, b.sized(pageJobs, 0))
	b.report.explain(pageCase+": what is measured", fmt.Sprintf(
		"The processor time of a server in a separate process for GET /jobs?limit=100 over %d jobs of %d schedules, by %d connections. The jobs of\n"+
			"the schedules are mixed. %q is a user with VIEW JOB HISTORY on every second schedule; %q has it on one schedule with %d jobs, so that its first\n"+
			"page may be empty, with a cursor. %s is the same for all pages of the list, one after the other.",
		all, pageSchedules, pageConnections, pageHalf, pageFew, pageRare, pageLastCase))
	readers := []*pageReader{
		{name: pageAdmin, jobs: all},
		{name: pageHalf, user: "half", sees: func(i int) bool { return i > 0 && i%2 == 0 }, jobs: -1},
		{name: pageFew, user: "few", sees: func(i int) bool { return i == 0 }, jobs: pageRare},
		{name: pageNone, user: "nobody"},
	}
	path := b.file("access-page")
	defer b.drop(path)
	if err := declareReaders(b.ctx, path, all, readers); err != nil {
		return err
	}
	s, err := b.serve("access-page", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var first, walks []turnSubject
	for _, r := range readers {
		if r.token == "" {
			r.token = s.token
		}
		call := s.callers(pageConnections, httpRequest{path: "/jobs?limit=100", token: r.token})
		defer call.close()
		each := b.sized(pageRequests, 2)
		first = append(first, turnSubject{r.name, func(context.Context) (float64, error) {
			return s.processorPer(pageConnections*each, func() error { return call.all(each) })
		}})
		walks = append(walks, turnSubject{r.name, func(ctx context.Context) (float64, error) {
			return s.processorPer(1, func() error { return r.walk(ctx, s) })
		}})
	}
	if err := b.takeTurns(pageCase, "processor time of the server per page", first...); err != nil {
		return err
	}
	return b.takeTurns(pageLastCase, "processor time of the server for all pages", walks...)
}

// declareReaders creates the jobs, the users and their tokens.
func declareReaders(ctx context.Context, path string, jobs int, readers []*pageReader) error {
	err := schedulesWithRuns{
		scheduleSet: scheduleSet{size: pageSchedules, from: time.Now(), spec: func(int) rota.ScheduleSpec {
			return rota.ScheduleSpec{Every: 24 * time.Hour}
		}},
		runs: jobs, own: pageRare,
	}.make(path)
	if err != nil {
		return err
	}
	return withStore(path, func(store *sqlite.Store) error {
		for _, r := range readers {
			for _, c := range r.declare() {
				if _, err := apply[rota.Reply](ctx, store, c); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// declare returns the commands that create a user, and sets its token.
func (r *pageReader) declare() (commands []rota.Command) {
	if r.user == "" {
		return nil
	}
	meta := func() rota.Meta { return rota.NewMeta(rota.AdminUser) }
	commands = append(commands,
		&rota.PutPrincipal{Meta: meta(), Name: r.user, Kind: rota.KindUser}, newToken(r.user, rota.ScopeRead, &r.token))
	for i := range pageSchedules {
		if r.sees != nil && r.sees(i) {
			commands = append(commands, &rota.GrantPrivileges{
				Meta: meta(), To: []string{r.user}, Job: scheduleName(i), Privileges: []rota.Privilege{rota.ViewJobHistory},
			})
		}
	}
	return commands
}

// walk reads all pages of the list, and fails if they do not have the jobs of the user.
func (r *pageReader) walk(ctx context.Context, s *server) error {
	client := apiclient.Client{HTTP: http.DefaultClient, Address: "http://" + s.addr, Token: r.token}
	seen, path := 0, "/jobs?limit=100"
	for {
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next_cursor"`
		}
		if err := getJSON(ctx, client, path, &page); err != nil {
			return err
		}
		seen += len(page.Items)
		if page.Next == "" {
			break
		}
		path = "/jobs?limit=100&cursor=" + page.Next
	}
	if r.jobs >= 0 && seen != r.jobs {
		return fmt.Errorf("the pages have %d jobs, not %d", seen, r.jobs)
	}
	return nil
}

func getJSON(ctx context.Context, client apiclient.Client, path string, answer any) error {
	response, err := client.Send(ctx, apiclient.Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	return json.Unmarshal(text, answer)
}
