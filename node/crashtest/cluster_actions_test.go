//go:build unix

package main

import (
	"math/rand/v2"
	"net/http"

	"github.com/rotajobs/rota/httpapi"
)

// What the limits of a fleet are. They stay so, that the ledger can be held
// against them.
var (
	keyLimits  = map[string]int{"one": 1, "two": 2}
	typeLimits = map[string]int{narrow: 2}
)

// clusterActions are what is done to a fleet: what is done to one server, and what
// only several show. The limits are not changed.
func clusterActions() (all []action) {
	for _, a := range actions {
		if a.name != "limit" {
			all = append(all, a)
		}
	}
	return append(all,
		action{"long", 6, true, (*load).long},
		action{"keyed", 8, true, (*load).keyed},
		action{"narrow", 6, true, (*load).narrow},
		action{"across", 3, true, (*load).across},
	)
}

// long makes a job that runs for about as long as a lease, so that there is
// something to lose at any moment.
func (l *load) long() {
	mark := l.answers.mark()
	l.make("long", "/jobs", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": millis(500 + rand.IntN(2500)), "mark": mark}, "priority": 6, "max_retries": 5,
	}, mark)
}

// keyed makes jobs that wait for each other, of two types.
func (l *load) keyed() {
	keys := []string{"one", "two"}
	for range 1 + rand.IntN(3) {
		mark := l.answers.mark()
		l.make("keyed", "/jobs", object{
			"type": []string{"ledger", narrow}[rand.IntN(2)], "concurrency_key": keys[rand.IntN(len(keys))],
			"params": l.brief(mark), "max_retries": 3, "backoff": "20ms", "priority": 4,
		}, mark)
	}
}

// narrow makes jobs of a type of which few may run.
func (l *load) narrow() {
	mark := l.answers.mark()
	l.make("narrow", "/jobs", object{"type": narrow, "params": l.brief(mark), "max_retries": 3, "backoff": "20ms", "priority": 4}, mark)
}

// brief is work that heeds its context and is soon done.
func (l *load) brief(mark string) object {
	return object{"behave": []string{"succeed", "sleep", "sleep", "fail"}[rand.IntN(4)], "for": millis(10 + rand.IntN(120)), "mark": mark}
}

// across makes a job at one server and looks for it at any: it is there.
func (l *load) across() {
	job := l.waiting("across", millis(200+rand.IntN(300)))
	if job.ID.IsZero() {
		return
	}
	var found httpapi.Job
	if l.request("across", http.MethodGet, "/jobs/"+job.ID.String(), nil, &found) && found.ID != job.ID {
		l.serverDir.Errorf("job %s was asked for, and %s answered", job.ID, found.ID)
	}
	l.answers.count("across", 1)
}

// declare gives a fleet its limits and its schedules, as one server has them.
func (f *testCluster) declare() {
	f.Helper()
	f.caller.must("PUT", "/limits", object{
		"types": object{narrow: object{"concurrency": typeLimits[narrow]}}, "keys": keyLimits,
	}, nil)
	f.caller.declareTicks()
}
