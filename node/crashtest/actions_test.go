//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
)

// make requests one job and records the answer. It returns the zero job if the server refused it.
func (l *load) make(action, path string, body object, mark string, allowed ...int) (job httpapi.Job) {
	if l.request(action, "POST", path, body, &job, allowed...) {
		l.answers.acknowledge(mark, job)
		return job
	}
	l.answers.settle(mark, refused)
	return httpapi.Job{}
}

func (l *load) single() {
	mark := l.answers.mark()
	l.make("single", "/jobs", l.job(mark), mark)
}

func (l *load) batch() {
	marks, jobs := make([]string, 2+rand.IntN(6)), []object{}
	for i := range marks {
		marks[i] = l.answers.mark()
		jobs = append(jobs, l.job(marks[i]))
	}
	var batch httpapi.Batch
	if !l.request("batch", "POST", "/jobs/batch", object{"jobs": jobs}, &batch) {
		return
	}
	for i, job := range batch.Items {
		l.answers.acknowledge(marks[i], job)
	}
}

// sleeper enqueues a job that runs long enough for heartbeats and progress. It limits
// how many of them run.
func (l *load) sleeper() {
	mark := l.answers.mark()
	l.make("sleeper", "/jobs", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": "700ms", "mark": mark}, "priority": 5,
	}, mark)
	time.Sleep(400 * time.Millisecond)
}

// waiting enqueues a job with a short delay.
func (l *load) waiting(action, delay string) (job httpapi.Job) {
	mark := l.answers.mark()
	return l.make(action, "/jobs", object{
		"type": "ledger", "params": object{"behave": "succeed", "mark": mark}, "delay": delay,
	}, mark)
}

func (l *load) delayed() { l.waiting("delayed", millis(30+rand.IntN(300))) }

func (l *load) edit() {
	job, priority := l.waiting("edit", "900ms"), 10+rand.IntN(10)
	if !job.ID.IsZero() && l.request("edit", "PATCH", "/jobs/"+job.ID.String(), object{"priority": priority}, nil, http.StatusConflict) {
		l.answers.update(func() { l.answers.edited[job.ID.ID] = priority })
	}
}

func (l *load) move() {
	first, second := l.waiting("move", "900ms"), l.waiting("move", "900ms")
	if first.ID.IsZero() || second.ID.IsZero() {
		return
	}
	to := []object{{"to": "top"}, {"to": "bottom"}, {"before": first.ID.String()}}[rand.IntN(3)]
	l.request("move", "POST", "/jobs/"+second.ID.String()+"/move", to, nil, http.StatusConflict, http.StatusUnprocessableEntity)
}

// cancel cancels a job that waits, or one that may already run.
func (l *load) cancel() {
	job := httpapi.Job{}
	if rand.IntN(2) == 0 {
		job = l.waiting("cancel", "2s")
	} else {
		mark := l.answers.mark()
		job = l.make("cancel", "/jobs", object{
			"type": "ledger", "params": object{"behave": "sleep", "for": "300ms", "mark": mark}, "priority": 9,
		}, mark)
	}
	var done httpapi.JobCancelled
	if job.ID.IsZero() || !l.request("cancel", "POST", "/jobs/"+job.ID.String()+"/cancel", object{"reason": "a test"}, &done, http.StatusConflict) {
		return
	}
	l.answers.update(func() {
		if done.Stopping {
			l.answers.stopping[done.ExecutionID.ID] = true
		} else {
			l.answers.cancelled[done.ID.ID] = true
		}
	})
}

func (l *load) redrive() {
	var dead httpapi.List[httpapi.Job]
	if !l.request("redrive", "GET", "/dead?limit=20", nil, &dead) || len(dead.Items) == 0 {
		return
	}
	id := dead.Items[rand.IntN(len(dead.Items))].ID.String()
	var job httpapi.Job
	if l.request("redrive", "POST", "/jobs/"+id+"/retry", nil, &job, http.StatusConflict) {
		l.answers.update(func() { l.answers.jobs[job.ID.ID] = true; l.answers.counts["redrives"]++ })
	}
}

func (l *load) direct() {
	mark := l.answers.mark()
	job := l.make("direct", "/direct", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": "20ms", "mark": mark}, "wait": "3s",
	}, mark, http.StatusConflict)
	if !job.ID.IsZero() {
		l.answers.count("directs", 1)
	}
}

// directOnFullSlots fills all slots and requests direct runs with a short wait, whose
// reservations are released.
func (l *load) directOnFullSlots() {
	var jobs []object
	var marks []string
	for range 12 {
		mark := l.answers.mark()
		marks = append(marks, mark)
		jobs = append(jobs, object{"type": "ledger", "params": object{"behave": "sleep", "for": "150ms", "mark": mark}, "priority": 20})
	}
	var batch httpapi.Batch
	if !l.request("squeeze", "POST", "/jobs/batch", object{"jobs": jobs}, &batch) {
		return
	}
	for i, job := range batch.Items {
		l.answers.acknowledge(marks[i], job)
	}
	for range 3 {
		mark := l.answers.mark()
		l.make("squeeze", "/direct", object{"type": "ledger", "params": object{"mark": mark}, "wait": "15ms"}, mark, http.StatusConflict)
	}
}

// directAbandoned requests a direct run and disconnects, mostly before it has ended.
// The abandoned reservation must not block other jobs.
func (l *load) directAbandoned() {
	addr, _ := l.where()
	if addr == "" {
		return
	}
	mark := l.answers.mark() // the job may exist or not, but not twice
	body := []byte(`{"type": "ledger", "params": {"behave": "sleep", "for": "5ms", "mark": "` + mark + `"}, "wait": "1s"}`)
	ctx, done := context.WithTimeout(l.ctx, time.Duration(rand.IntN(30))*time.Millisecond)
	defer done()
	_, _ = l.once(ctx, "POST", "http://"+addr+"/api/v1/direct", body, mark)
}

// group enqueues a group whose members stop when they are cancelled.
func (l *load) group() {
	mode := []string{"sequential", "parallel"}[rand.IntN(2)]
	body := object{"mode": mode, "on_failure": []string{"continue", "stop", "skip"}[rand.IntN(3)]}
	behaviours := []object{{"behave": "succeed"}, {"behave": "sleep", "for": "15ms"}, {"behave": "succeed"}, {"behave": "fail"}, {"behave": "panic"}}
	var members []object
	var marks []string
	for range 2 + rand.IntN(3) {
		mark := l.answers.mark()
		params := object{"mark": mark}
		for k, v := range behaviours[rand.IntN(len(behaviours))] {
			params[k] = v
		}
		marks = append(marks, mark)
		members = append(members, object{"type": "ledger", "params": params, "max_retries": 2, "backoff": "10ms", "priority": rand.IntN(4)})
	}
	body["jobs"] = members
	if group := l.makeGroup("group", body, marks); rand.IntN(5) == 0 {
		l.endGroup("group", group)
	}
}

// largeGroup enqueues a group that is too large to be cancelled in one step, and cancels it.
func (l *load) largeGroup() {
	var members []object
	var marks []string
	for range rota.MembersMax + 20 {
		mark := l.answers.mark()
		marks = append(marks, mark)
		members = append(members, object{"type": "ledger", "params": object{"mark": mark}, "delay": "5s"})
	}
	l.endGroup("crowd", l.makeGroup("crowd", object{"jobs": members}, marks))
}

func (l *load) makeGroup(action string, body object, marks []string) (group httpapi.GroupDetail) {
	if !l.request(action, "POST", "/groups", body, &group) {
		return group
	}
	for i, job := range group.Jobs {
		l.answers.acknowledge(marks[i], job)
	}
	l.answers.update(func() { l.answers.modes[group.ID.ID] = group.Mode })
	return group
}

func (l *load) endGroup(action string, group httpapi.GroupDetail) {
	if !group.ID.IsZero() {
		l.request(action, "POST", "/groups/"+group.ID.String()+"/cancel", object{"reason": "a test"}, nil, http.StatusConflict)
	}
}

func (l *load) trigger() {
	mark := l.answers.mark()
	var fired httpapi.Triggered
	if !l.request("trigger", "POST", "/schedules/tick-allow/trigger", object{"params": object{"mark": mark}}, &fired) {
		return
	}
	if len(fired.Items) != 1 {
		l.serverDir.Errorf("a trigger enqueued %d jobs", len(fired.Items))
		return
	}
	l.answers.acknowledge(mark, fired.Items[0])
	l.answers.count("triggers", 1)
}

// backfill requests a backfill for times most of which the schedule has already fired.
func (l *load) backfill() {
	now := time.Now()
	l.request("backfill", "POST", "/schedules/tick-scoped/backfill", object{
		"from": now.Add(-6 * time.Second).UTC().Format(time.RFC3339Nano), "to": now.UTC().Format(time.RFC3339Nano),
	}, nil, http.StatusUnprocessableEntity)
}

var serial atomic.Int64

// oneTime declares a schedule that fires once, soon. If the request is delayed, the
// time has passed and the server refuses it.
func (l *load) oneTime() {
	name, at := fmt.Sprint("once-", serial.Add(1)), time.Now().Add(400*time.Millisecond).UTC().Truncate(time.Millisecond)
	if l.request("once", "POST", "/schedules", object{
		"name": name, "template": "tick", "at": at.Format(time.RFC3339Nano), "catch_up": "all",
	}, nil, http.StatusUnprocessableEntity) {
		l.answers.update(func() { l.answers.onces[name] = at })
	}
}

// forget declares a schedule and deletes it.
func (l *load) forget() {
	name := fmt.Sprint("later-", serial.Add(1))
	if l.request("forget", "POST", "/schedules", object{"name": name, "template": "tick", "cron": "0 3 * * *"}, nil) {
		l.request("forget", "DELETE", "/schedules/"+name, nil, nil)
	}
}

// statement creates a job with SQL, alters it and drops it.
func (l *load) statement() {
	name := fmt.Sprint("made_", serial.Add(1))
	if !l.execSQL("CREATE JOB " + name + " SCHEDULE = CRON '0 3 * * *' AS CALL noop()") {
		return
	}
	l.execSQL("BEGIN; ALTER JOB " + name + " SET AS 'SELECT 1' SET MAX_RETRIES = 7; CREATE JOB " + name + "_after DEPENDS ON " + name + " SCHEDULE = CRON '30 3 * * *' AS CALL noop(); COMMIT")
	l.execSQL("RECREATE JOB " + name + " SCHEDULE = EVERY 1 DAY AS CALL noop()")
	l.execSQL("DROP JOB " + name + "_after")
	l.execSQL("DROP JOB " + name + []string{"", " KEEP HISTORY"}[rand.IntN(2)])
}

func (l *load) execSQL(text string) bool {
	return l.request("statement", "POST", "/sql", object{"statement": text}, nil)
}

// hold pauses a schedule for a short time.
func (l *load) hold() {
	if !l.held.TryLock() {
		return // a pause that changes nothing is not recorded under its key, so a late retry would be a new pause
	}
	defer l.held.Unlock()
	l.request("hold", "POST", "/schedules/tick-allow/pause", nil, nil)
	l.request("hold", "POST", "/schedules/tick-allow/resume", nil, nil)
}

// pause pauses a type for a short time, in which none of its jobs may start.
func (l *load) pause() {
	if !l.turn.TryLock() {
		return // two pauses would undo each other
	}
	defer l.turn.Unlock()
	l.request("pause", "POST", "/types/"+steps+"/pause", nil, nil)
	from := time.Now()
	l.single()
	to := time.Now()
	l.request("pause", "POST", "/types/"+steps+"/resume", nil, nil)
	l.answers.update(func() { l.answers.paused = append(l.answers.paused, span{from, to}) })
}

func (l *load) template() {
	name := fmt.Sprint("made-", serial.Add(1))
	if !l.request("template", "POST", "/templates", object{"name": name, "type": "ledger", "default_params": object{"behave": "succeed"}}, nil) {
		return
	}
	mark := l.answers.mark()
	l.make("template", "/jobs", object{"template": name, "params": object{"mark": mark}}, mark)
	l.request("template", "POST", "/templates/"+name+"/archive", nil, nil)
	l.request("template", "POST", "/templates/"+name+"/unarchive", nil, nil)
}

func (l *load) putType() {
	l.request("type", "PUT", "/types/elsewhere", object{"description": fmt.Sprint("version ", serial.Add(1))}, nil)
}

func (l *load) limit() {
	l.request("limit", "PUT", "/limits", object{"types": object{steps: object{"concurrency": 2 + rand.IntN(5)}}}, nil)
}
