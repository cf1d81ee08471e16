//go:build unix

package main

import (
	"math/rand/v2"
	"net/http"

	"github.com/rotajobs/rota/httpapi"
)

// Limits of a cluster. They never change, so that the ledger can be checked against
// them.
var (
	keyLimits  = map[string]int{"one": 1, "two": 2}
	typeLimits = map[string]int{narrow: 2}
)

// clusterActions are the actions for a cluster: those for one server, and those that
// need several. They do not change limits.
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

// long enqueues a job that runs for about as long as a lease, so that some lease can
// be lost at any time.
func (l *load) long() {
	mark := l.answers.mark()
	l.make("long", "/jobs", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": millis(500 + rand.IntN(2500)), "mark": mark}, "priority": 6, "max_retries": 5,
	}, mark)
}

// keyed enqueues jobs of two types with one concurrency key.
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

// narrow enqueues jobs of a type with a low limit.
func (l *load) narrow() {
	mark := l.answers.mark()
	l.make("narrow", "/jobs", object{"type": narrow, "params": l.brief(mark), "max_retries": 3, "backoff": "20ms", "priority": 4}, mark)
}

// brief is a short job that obeys its cancellation.
func (l *load) brief(mark string) object {
	return object{"behave": []string{"succeed", "sleep", "sleep", "fail"}[rand.IntN(4)], "for": millis(10 + rand.IntN(120)), "mark": mark}
}

// across enqueues a job at one server and reads it at any other.
func (l *load) across() {
	job := l.waiting("across", millis(200+rand.IntN(300)))
	if job.ID.IsZero() {
		return
	}
	var found httpapi.Job
	if l.request("across", http.MethodGet, "/jobs/"+job.ID.String(), nil, &found) && found.ID != job.ID {
		l.serverDir.Errorf("requested job %s, received %s", job.ID, found.ID)
	}
	l.answers.count("across", 1)
}

// declare declares the limits and schedules of the cluster.
func (f *testCluster) declare() {
	f.Helper()
	f.caller.must("PUT", "/limits", object{
		"types": object{narrow: object{"concurrency": typeLimits[narrow]}}, "keys": keyLimits,
	}, nil)
	f.caller.declareTicks()
}
