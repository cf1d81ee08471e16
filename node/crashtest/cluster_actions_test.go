//go:build unix

package main

import (
	"math/rand/v2"
	"net/http"

	"github.com/rotajobs/rota/api"
)

// Limits of a cluster. They never change, because the audit compares the ledger with
// them.
var (
	keyLimits  = map[string]int{"one": 1, "two": 2}
	typeLimits = map[string]int{limitedType: 2}
)

// clusterActions returns the actions for a cluster: those for one server, without the
// one that changes limits, and those that need several servers.
func clusterActions() (all []action) {
	for _, a := range actions {
		if a.name != "set limit" {
			all = append(all, a)
		}
	}
	return append(all,
		action{"run as long as a lease", 6, true, (*load).enqueueLeaseLong},
		action{"enqueue keyed", 8, true, (*load).enqueueKeyed},
		action{"enqueue limited", 6, true, (*load).enqueueLimited},
		action{"read at other server", 3, true, (*load).readAtOtherServer},
	)
}

// enqueueLeaseLong enqueues a job that runs for about as long as a lease, so that some lease can
// expire at any time.
func (l *load) enqueueLeaseLong() {
	mark := l.answers.newMark()
	l.enqueue("run as long as a lease", "/jobs", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": millis(500 + rand.IntN(2500)), "mark": mark}, "priority": 6, "max_retries": 5,
	}, mark)
}

// enqueueKeyed enqueues jobs of two types with one concurrency key.
func (l *load) enqueueKeyed() {
	keys := []string{"one", "two"}
	for range 1 + rand.IntN(3) {
		mark := l.answers.newMark()
		l.enqueue("enqueue keyed", "/jobs", object{
			"type": []string{"ledger", limitedType}[rand.IntN(2)], "concurrency_key": keys[rand.IntN(len(keys))],
			"params": l.shortJob(mark), "max_retries": 3, "backoff": "20ms", "priority": 4,
		}, mark)
	}
}

// enqueueLimited enqueues a job of a type with a low limit.
func (l *load) enqueueLimited() {
	mark := l.answers.newMark()
	l.enqueue("enqueue limited", "/jobs", object{"type": limitedType, "params": l.shortJob(mark), "max_retries": 3, "backoff": "20ms", "priority": 4}, mark)
}

// shortJob returns the params of a short job whose handler returns when it is cancelled.
func (l *load) shortJob(mark string) object {
	return object{"behave": []string{"succeed", "sleep", "sleep", "fail"}[rand.IntN(4)], "for": millis(10 + rand.IntN(120)), "mark": mark}
}

// readAtOtherServer enqueues a job at one server and reads it at any other.
func (l *load) readAtOtherServer() {
	job := l.enqueueDelayed("read at other server", millis(200+rand.IntN(300)))
	if job.ID.IsZero() {
		return
	}
	var found api.Job
	if l.request("read at other server", http.MethodGet, "/jobs/"+job.ID.String(), nil, &found) && found.ID != job.ID {
		l.serverDir.Errorf("requested job %s, received %s", job.ID, found.ID)
	}
	l.answers.count("reads at another server", 1)
}

// declareLimitsAndSchedules declares the limits and schedules of the cluster.
func (f *testCluster) declareLimitsAndSchedules() {
	f.Helper()
	f.caller.mustWrite("PUT", "/limits", object{
		"types": object{limitedType: object{"concurrency": typeLimits[limitedType]}}, "keys": keyLimits,
	}, nil)
	f.caller.declareTicks()
}
