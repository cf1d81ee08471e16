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
	"github.com/rotajobs/rota/api"
)

// enqueue requests one job and records the answer. It returns the zero job if the server
// refused it.
func (l *load) enqueue(action, path string, body object, mark string, allowed ...int) (job api.Job) {
	if l.request(action, "POST", path, body, &job, allowed...) {
		l.answers.acknowledge(mark, job)
		return job
	}
	l.answers.recordResult(mark, resultRefused)
	return api.Job{}
}

func (l *load) enqueueSingle() {
	mark := l.answers.newMark()
	l.enqueue("enqueue", "/jobs", l.randomJob(mark), mark)
}

func (l *load) enqueueBatch() {
	marks, jobs := make([]string, 2+rand.IntN(6)), []object{}
	for i := range marks {
		marks[i] = l.answers.newMark()
		jobs = append(jobs, l.randomJob(marks[i]))
	}
	var batch api.Batch
	if !l.request("enqueue batch", "POST", "/jobs/batch", object{"jobs": jobs}, &batch) {
		return
	}
	for i, job := range batch.Items {
		l.answers.acknowledge(marks[i], job)
	}
}

// enqueueLongEnoughForHeartbeat enqueues a job that runs long enough for heartbeats and
// progress. It then waits, so that these jobs do not take all slots.
func (l *load) enqueueLongEnoughForHeartbeat() {
	mark := l.answers.newMark()
	l.enqueue("run with heartbeats", "/jobs", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": "700ms", "mark": mark}, "priority": 5,
	}, mark)
	time.Sleep(400 * time.Millisecond)
}

// enqueueDelayed enqueues a job with a delay.
func (l *load) enqueueDelayed(action, delay string) (job api.Job) {
	mark := l.answers.newMark()
	return l.enqueue(action, "/jobs", object{
		"type": "ledger", "params": object{"behave": "succeed", "mark": mark}, "delay": delay,
	}, mark)
}

func (l *load) enqueueBriefDelay() { l.enqueueDelayed("enqueue delayed", millis(30+rand.IntN(300))) }

// enqueueAndEdit changes the priority of a job. A slow request may arrive after the first
// attempt was interrupted; the server then edits the retry, and answers with its id.
func (l *load) enqueueAndEdit() {
	job, priority := l.enqueueDelayed("edit job", "900ms"), 10+rand.IntN(10)
	var edited api.Job
	if !job.ID.IsZero() && l.request("edit job", "PATCH", "/jobs/"+job.ID.String(), object{"priority": priority}, &edited, http.StatusConflict) {
		l.answers.locked(func() { l.answers.edited[edited.ID.ID] = priority })
		l.request("edit job", "POST", "/jobs/"+job.ID.String()+"/run-now", nil, nil, http.StatusConflict)
	}
}

func (l *load) enqueueAndMove() {
	first, second := l.enqueueDelayed("move job", "900ms"), l.enqueueDelayed("move job", "900ms")
	if first.ID.IsZero() || second.ID.IsZero() {
		return
	}
	to := []object{{"to": "top"}, {"to": "bottom"}, {"before": first.ID.String()}}[rand.IntN(3)]
	l.request("move job", "POST", "/jobs/"+second.ID.String()+"/move", to, nil, http.StatusConflict, http.StatusUnprocessableEntity)
}

// enqueueAndCancel cancels a job that is delayed, or one that may already run.
func (l *load) enqueueAndCancel() {
	job := api.Job{}
	if rand.IntN(2) == 0 {
		job = l.enqueueDelayed("cancel job", "2s")
	} else {
		mark := l.answers.newMark()
		job = l.enqueue("cancel job", "/jobs", object{
			"type": "ledger", "params": object{"behave": "sleep", "for": "300ms", "mark": mark}, "priority": 9,
		}, mark)
	}
	var done api.JobCancelled
	if job.ID.IsZero() || !l.request("cancel job", "POST", "/jobs/"+job.ID.String()+"/cancel", object{"reason": "a test"}, &done, http.StatusConflict) {
		return
	}
	l.answers.locked(func() {
		if done.Stopping {
			l.answers.stopping[done.ExecutionID.ID] = true
		} else {
			l.answers.cancelled[done.ID.ID] = true
		}
	})
}

func (l *load) retryDead() {
	var dead api.List[api.Job]
	if !l.request("retry dead", "GET", "/dead?limit=20", nil, &dead) || len(dead.Items) == 0 {
		return
	}
	id := dead.Items[rand.IntN(len(dead.Items))].ID.String()
	var job api.Job
	if l.request("retry dead", "POST", "/jobs/"+id+"/retry", nil, &job, http.StatusConflict) {
		l.answers.locked(func() { l.answers.jobs[job.ID.ID] = true; l.answers.counts["redrives"]++ })
	}
}

func (l *load) runDirect() {
	mark := l.answers.newMark()
	job := l.enqueue("direct", "/direct", object{
		"type": "ledger", "params": object{"behave": "sleep", "for": "20ms", "mark": mark}, "wait": "3s",
	}, mark, http.StatusConflict)
	if !job.ID.IsZero() {
		l.answers.count("directs", 1)
	}
}

// runDirectOnFullSlots fills all slots and requests direct runs with a short wait, whose
// reservations are released.
func (l *load) runDirectOnFullSlots() {
	var jobs []object
	var marks []string
	for range 12 {
		mark := l.answers.newMark()
		marks = append(marks, mark)
		jobs = append(jobs, object{"type": "ledger", "params": object{"behave": "sleep", "for": "150ms", "mark": mark}, "priority": 20})
	}
	var batch api.Batch
	if !l.request("direct on full slots", "POST", "/jobs/batch", object{"jobs": jobs}, &batch) {
		return
	}
	for i, job := range batch.Items {
		l.answers.acknowledge(marks[i], job)
	}
	for range 3 {
		mark := l.answers.newMark()
		l.enqueue("direct on full slots", "/direct", object{"type": "ledger", "params": object{"mark": mark}, "wait": "15ms"}, mark, http.StatusConflict)
	}
}

// abandonDirect requests a direct run and disconnects, mostly before it has ended.
// The abandoned reservation must not block other jobs.
func (l *load) abandonDirect() {
	addr, _ := l.address()
	if addr == "" {
		return
	}
	mark := l.answers.newMark() // the job may exist or not, but not twice
	body := []byte(`{"type": "ledger", "params": {"behave": "sleep", "for": "5ms", "mark": "` + mark + `"}, "wait": "1s"}`)
	ctx, done := context.WithTimeout(l.ctx, time.Duration(rand.IntN(30))*time.Millisecond)
	defer done()
	_, _ = l.sendOnce(ctx, "POST", "http://"+addr+"/api/v1/direct", body, mark)
}

// enqueueGroup enqueues a group whose handlers return when they are cancelled, and
// cancels one group in five.
func (l *load) enqueueGroup() {
	mode := []string{"sequential", "parallel"}[rand.IntN(2)]
	body := object{"mode": mode, "on_failure": []string{"continue", "stop", "skip"}[rand.IntN(3)]}
	behaviours := []object{{"behave": "succeed"}, {"behave": "sleep", "for": "15ms"}, {"behave": "succeed"}, {"behave": "fail"}, {"behave": "panic"}}
	var members []object
	var marks []string
	for range 2 + rand.IntN(3) {
		mark := l.answers.newMark()
		params := object{"mark": mark}
		for k, v := range behaviours[rand.IntN(len(behaviours))] {
			params[k] = v
		}
		marks = append(marks, mark)
		members = append(members, object{"type": "ledger", "params": params, "max_retries": 2, "backoff": "10ms", "priority": rand.IntN(4)})
	}
	body["jobs"] = members
	if group := l.postGroup("enqueue group", body, marks); rand.IntN(5) == 0 {
		l.cancelGroup("enqueue group", group)
	}
}

// cancelLargeGroup enqueues a group that is too large to be cancelled in one step, and cancels it.
func (l *load) cancelLargeGroup() {
	var members []object
	var marks []string
	for range rota.MembersMax + 20 {
		mark := l.answers.newMark()
		marks = append(marks, mark)
		members = append(members, object{"type": "ledger", "params": object{"mark": mark}, "delay": "5s"})
	}
	l.cancelGroup("cancel large group", l.postGroup("cancel large group", object{"jobs": members}, marks))
}

func (l *load) postGroup(action string, body object, marks []string) (group api.GroupDetail) {
	if !l.request(action, "POST", "/groups", body, &group) {
		return group
	}
	for i, job := range group.Jobs {
		l.answers.acknowledge(marks[i], job)
	}
	l.answers.locked(func() { l.answers.groupModes[group.ID.ID] = group.Mode })
	return group
}

func (l *load) cancelGroup(action string, group api.GroupDetail) {
	if !group.ID.IsZero() {
		l.request(action, "POST", "/groups/"+group.ID.String()+"/cancel", object{"reason": "a test"}, nil, http.StatusConflict)
	}
}

func (l *load) triggerSchedule() {
	mark := l.answers.newMark()
	var fired api.Triggered
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

// backfillSchedule requests a backfill for times most of which the schedule has already fired.
func (l *load) backfillSchedule() {
	now := time.Now()
	l.request("backfill", "POST", "/schedules/tick-scoped/backfill", object{
		"from": now.Add(-6 * time.Second).UTC().Format(time.RFC3339Nano), "to": now.UTC().Format(time.RFC3339Nano),
	}, nil, http.StatusUnprocessableEntity)
}

var lastNumber atomic.Int64

// declareOneTime declares a schedule that fires once, soon. The server refuses a request
// that arrives after that time.
func (l *load) declareOneTime() {
	name, at := fmt.Sprint("once-", lastNumber.Add(1)), time.Now().Add(400*time.Millisecond).UTC().Truncate(time.Millisecond)
	if l.request("one-time schedule", "POST", "/schedules", object{
		"name": name, "template": "tick", "at": at.Format(time.RFC3339Nano), "catch_up": "all",
	}, nil, http.StatusUnprocessableEntity) {
		l.answers.locked(func() { l.answers.oneTimes[name] = at })
	}
}

// deleteSchedule declares a schedule and deletes it.
func (l *load) deleteSchedule() {
	name := fmt.Sprint("later-", lastNumber.Add(1))
	if l.request("delete schedule", "POST", "/schedules", object{"name": name, "template": "tick", "cron": "0 3 * * *"}, nil) {
		l.request("delete schedule", "DELETE", "/schedules/"+name, nil, nil)
	}
}

// runStatements creates a job with SQL, alters it and drops it.
func (l *load) runStatements() {
	name := fmt.Sprint("made_", lastNumber.Add(1))
	if !l.execSQL("CREATE JOB " + name + " SCHEDULE = CRON '0 3 * * *' AS CALL noop()") {
		return
	}
	l.execSQL("BEGIN; ALTER JOB " + name + " SET AS 'SELECT 1' SET MAX_RETRIES = 7; CREATE JOB " + name + "_after DEPENDS ON " + name + " SCHEDULE = CRON '30 3 * * *' AS CALL noop(); COMMIT")
	l.execSQL("RECREATE JOB " + name + " SCHEDULE = EVERY 1 DAY AS CALL noop()")
	l.execSQL("DROP JOB " + name + "_after")
	l.execSQL("DROP JOB " + name + []string{"", " KEEP HISTORY"}[rand.IntN(2)])
}

func (l *load) execSQL(text string) bool {
	return l.request("SQL", "POST", "/sql", object{"statement": text}, nil)
}

// pauseSchedule pauses a schedule for a short time.
func (l *load) pauseSchedule() {
	if !l.schedulePause.TryLock() {
		return // the server does not record a pause that changes nothing under its key, so a late retry would pause again
	}
	defer l.schedulePause.Unlock()
	l.request("pause schedule", "POST", "/schedules/tick-allow/pause", nil, nil)
	l.request("pause schedule", "POST", "/schedules/tick-allow/resume", nil, nil)
}

// pauseType pauses a type for a short time. No job of the type may start meanwhile.
func (l *load) pauseType() {
	if !l.typePause.TryLock() {
		return // the resume of one client would end the pause of another
	}
	defer l.typePause.Unlock()
	l.request("pause type", "POST", "/types/"+pausableType+"/pause", nil, nil)
	from := time.Now()
	l.enqueueSingle()
	to := time.Now()
	l.request("pause type", "POST", "/types/"+pausableType+"/resume", nil, nil)
	l.answers.locked(func() { l.answers.typePauses = append(l.answers.typePauses, span{from, to}) })
}

func (l *load) useTemplate() {
	name := fmt.Sprint("made-", lastNumber.Add(1))
	if !l.request("use template", "POST", "/templates", object{"name": name, "type": "ledger", "default_params": object{"behave": "succeed"}}, nil) {
		return
	}
	mark := l.answers.newMark()
	l.enqueue("use template", "/jobs", object{"template": name, "params": object{"mark": mark}}, mark)
	l.request("use template", "POST", "/templates/"+name+"/archive", nil, nil)
	l.request("use template", "POST", "/templates/"+name+"/unarchive", nil, nil)
}

func (l *load) putType() {
	l.request("put type", "PUT", "/types/remote", object{"description": fmt.Sprint("version ", lastNumber.Add(1))}, nil)
}

func (l *load) setLimit() {
	l.request("set limit", "PUT", "/limits", object{"types": object{pausableType: object{"concurrency": 2 + rand.IntN(5)}}}, nil)
}
