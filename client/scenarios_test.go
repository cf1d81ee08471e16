package client_test

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// scenarios call each method of the client, by its name.
var scenarios = map[string]func(*queue){
	"Enqueue": enqueueScenario, "Submit": submitScenario, "EnqueueMany": enqueueManyScenario, "Schedule": scheduleScenario, "Cancel": cancelScenario,
	"Edit": editScenario, "RunNow": runNowScenario, "Retry": retryScenario, "RunAgain": runAgainScenario, "Job": jobScenario, "Execution": executionScenario,
	"Explain": explainScenario,
}

func enqueueScenario(q *queue) {
	ctx := q.Context()
	job, err := q.Enqueue(ctx, mail{To: "<ada&bo>", Count: 1<<62 + 1}, rota.At(now.Add(time.Hour)), rota.Unique("k"), rota.UniqueFor(time.Hour), rota.Priority(7),
		rota.Retries(2), rota.Backoff(time.Second), rota.BackoffMax(time.Minute), rota.Jitter(0.5), rota.Timeout(time.Hour), rota.ForScope("user", "7"),
		rota.Planned(now), rota.Key("smtp"), rota.Name("welcome"))
	q.job("with every option", job, err)
	for _, params := range []string{`{"b":1,"a":12345678901234567890.10,"c":[1e300,"\u2028<>&"]}`, `{ "spaces" : true }`, `{}`} {
		job, err := q.Enqueue(ctx, text(params), rota.After(90*time.Second), rota.Priority(0), rota.Retries(0), rota.Key(""))
		q.job(params, job, err)
	}
	_, err = q.Enqueue(ctx, mail{})
	q.refused("a field of the schema", err, rota.Invalid, "params.to")
	_, err = q.Enqueue(ctx, fax{Pages: 10})
	q.refused("Validate", err, rota.Invalid, "params.pages")
	_, err = q.Enqueue(ctx, text(`[]`))
	q.refused("a list", err, rota.Invalid, "params")
	_, err = q.Enqueue(ctx, text(`{"a":"`+strings.Repeat("a", rota.ParamsMax)+`"}`))
	q.refused("long params", err, rota.Invalid, "params")
	_, err = q.Enqueue(ctx, mail{To: "a"}, rota.Retries(-1))
	q.refused("negative retries", err, rota.Invalid, "max_retries")
	_, err = q.Enqueue(ctx, mail{To: "a"}, rota.At(now), rota.After(time.Hour))
	q.refused("two start times", err, rota.Invalid, "delay")
	_, err = q.Enqueue(ctx, mail{To: "a"}, rota.Cron("* * * * *", ""))
	q.refused("an option of Schedule", err, rota.Invalid, "cron")
	declared, err := q.store.Type(ctx, "mail")
	q.note("the declared schema", declared.Spec, err)
}

func submitScenario(q *queue) {
	for _, to := range []string{"first", "second"} {
		submitted, err := q.Submit(q.Context(), mail{To: to}, rota.Unique("k"))
		q.job("unique "+to, submitted.Job, err)
		q.note("duplicate", submitted.Duplicate, err)
	}
	for range 2 {
		submitted, err := q.Submit(q.Context(), mail{To: "a"}, rota.Planned(now))
		q.job("planned", submitted.Job, err)
		q.note("duplicate", submitted.Duplicate, err)
	}
	submitted, err := q.Submit(q.Context(), mail{})
	q.refused("an invalid one", err, rota.Invalid, "params.to")
	q.note("its result", submitted, nil)
}

func enqueueManyScenario(q *queue) {
	ctx := q.Context()
	many, err := q.EnqueueMany(ctx, []rota.Payload{mail{To: "a"}, fax{Pages: 1}, mail{To: "b"}}, rota.Priority(3))
	for _, one := range many {
		q.job("one of many", one.Job, err)
	}
	none, err := q.EnqueueMany(ctx, nil)
	q.note("none", none, err)
	_, err = q.EnqueueMany(ctx, []rota.Payload{mail{To: "a"}, mail{}})
	q.refused("the second is invalid", err, rota.Invalid, "jobs[1].params.to")
	_, err = q.EnqueueMany(ctx, []rota.Payload{mail{To: "a"}, mail{To: "b"}}, rota.Unique("k"))
	q.refused("one key for two", err, rota.Invalid, "jobs[1].unique_key")
	_, err = q.EnqueueMany(ctx, []rota.Payload{mail{To: "a"}, fax{}}, rota.Backoff(-1))
	q.refused("an invalid option", err, rota.Invalid, "jobs[0].backoff")
	all, err := q.store.CountJobs(ctx, rota.JobQuery{})
	q.note("jobs", all, err)
}

func scheduleScenario(q *queue) {
	ctx := q.Context()
	stored := func(act, name string) {
		q.Helper()
		t, err := q.store.Template(ctx, name)
		if err == nil {
			q.note(act+", template", map[string]any{"spec": t.Spec, "state": t.State, "by": t.CreatedBy}, err)
		}
		s, err := q.store.Schedule(ctx, name)
		if err == nil {
			s.Version = rota.ID{}
			q.note(act+", schedule", s, err)
		}
	}
	every := []rota.Option{rota.Every(time.Hour), rota.OverlapSkip, rota.CatchUpAll, rota.Retries(3), rota.Priority(2), rota.Key("k"), rota.Timeout(time.Minute)}
	q.note("every hour", nil, q.Schedule(ctx, "hourly", mail{To: "<all>"}, every...))
	stored("new", "hourly")
	q.note("again", nil, q.Schedule(ctx, "hourly", mail{To: "<all>"}, every...))
	stored("unchanged", "hourly")
	q.note("changed", nil, q.Schedule(ctx, "hourly", mail{To: "few"}, rota.Cron("30 * * * *", "Europe/Berlin"), rota.Starts(now), rota.Ends(now.Add(time.Hour)),
		rota.Scopes("user", "7", "8"), rota.Scopes("tenant", "t")))
	stored("changed", "hourly")
	q.note("a dependent one", nil, q.Schedule(ctx, "after", fax{}, rota.Cron("0 3 * * *", ""), rota.DependsOn("hourly")))
	stored("dependent", "after")
	q.note("once", nil, q.Schedule(ctx, "once", fax{}, rota.At(now.Add(time.Hour)), rota.CompletionDrop))
	stored("once", "once")

	if _, err := rota.Do[*rota.SchedulePut](ctx, q.store, &rota.SwitchSchedule{Meta: rota.NewMeta("ada"), Name: "once", State: rota.SchedulePaused}); err != nil {
		q.Fatal(err)
	}
	q.note("a paused one", nil, q.Schedule(ctx, "once", fax{Pages: 2}, rota.At(now.Add(2*time.Hour))))
	stored("paused", "once")

	q.refused("no times", q.Schedule(ctx, "s", mail{To: "a"}), rota.Invalid, "cron")
	q.refused("a wrong cron", q.Schedule(ctx, "s", mail{To: "a"}, rota.Cron("99 * * * *", "")), rota.Invalid, "cron")
	q.refused("a wrong zone", q.Schedule(ctx, "s", mail{To: "a"}, rota.Cron("* * * * *", "Mars/Base")), rota.Invalid, "timezone")
	q.refused("a wrong name", q.Schedule(ctx, "a b", mail{To: "a"}, rota.Every(time.Hour)), rota.Invalid, "name")
	q.refused("wrong params", q.Schedule(ctx, "s", mail{}, rota.Every(time.Hour)), rota.Invalid, "params.to")
	q.refused("a past time", q.Schedule(ctx, "s", mail{To: "a"}, rota.At(now.Add(-time.Hour))), rota.Invalid, "at")
	q.refused("a past end", q.Schedule(ctx, "s", mail{To: "a"}, rota.Every(time.Hour), rota.Ends(now.Add(-time.Hour))), rota.Invalid, "ends_at")
	q.refused("a missing dependency", q.Schedule(ctx, "s", mail{To: "a"}, rota.Every(time.Hour), rota.DependsOn("nothing")), rota.Invalid, "depends_on")
	stored("refused", "s") // neither exists

	if _, err := rota.Do[*rota.TemplatePut](ctx, q.store, &rota.Archive{Meta: rota.NewMeta("ada"), Name: "hourly"}); err != nil {
		q.Fatal(err)
	}
	q.refused("an archived template", q.Schedule(ctx, "hourly", mail{To: "few"}, rota.Every(time.Hour)), rota.Conflict, "template")
	q.refused("the same declaration", q.Schedule(ctx, "hourly", mail{To: "few"}, rota.Cron("30 * * * *", "Europe/Berlin"), rota.Starts(now), rota.Ends(now.Add(time.Hour)),
		rota.Scopes("user", "7", "8"), rota.Scopes("tenant", "t")), rota.Conflict, "template")
	stored("archived", "hourly")
}

func cancelScenario(q *queue) {
	ctx := q.Context()
	cancelled := func(act string, id rota.ID) {
		q.Helper()
		c, err := q.Cancel(ctx, id, "not <needed>")
		if err != nil {
			q.note(act, nil, err)
			return
		}
		q.job(act, c.Job, err)
		q.note("stopping", c.Stopping, err)
	}
	waiting := q.enqueue(mail{To: "a"}, rota.Key("k"))
	cancelled("a waiting job", waiting.ID)
	cancelled("a cancelled job", waiting.ID)
	q.enqueue(fax{})
	cancelled("a running job", q.claim("fax").ID)
	q.enqueue(text(`{}`), rota.Retries(0))
	cancelled("an ended job", q.run("text", rota.OutcomeCompleted).ID)
	_, err := q.Cancel(ctx, rota.NewID(), "")
	q.refused("no job", err, rota.NotFound, "job_id")
	_, err = q.Cancel(ctx, waiting.ID, strings.Repeat("a", 1<<20))
	q.refused("a long reason", err, rota.Invalid, "reason")
}

func editScenario(q *queue) {
	ctx := q.Context()
	id := q.enqueue(mail{To: "a"}).ID
	edit := func(act string, options ...rota.Option) {
		q.Helper()
		job, err := q.Edit(ctx, id, options...)
		q.job(act, job, err)
	}
	edit("params and priority", rota.SetParams(map[string]any{"count": 5}), rota.Priority(9))
	edit("a later start", rota.At(now.Add(time.Hour)))
	edit("a delay", rota.After(time.Minute))
	edit("no delay", rota.After(0))
	refused := func(act string, field string, options ...rota.Option) {
		q.Helper()
		_, err := q.Edit(ctx, id, options...)
		q.refused(act, err, rota.Invalid, field)
	}
	refused("nothing", "")
	refused("wrong params", "params.to", rota.SetParams(map[string]any{"to": ""}))
	refused("a wrong priority", "priority", rota.Priority(1<<30))
	q.KnowType(fax{})
	id = q.enqueue(fax{}).ID
	refused("Validate", "params.pages", rota.SetParams(map[string]int{"pages": 10}))
	q.run("fax", rota.OutcomeCompleted)
	_, err := q.Edit(ctx, id, rota.Priority(1))
	q.refused("a job that ended", err, rota.Conflict, "job_id")
	_, err = q.Edit(ctx, rota.NewID(), rota.Priority(1))
	q.refused("no job", err, rota.NotFound, "job_id")
	_, err = q.Edit(ctx, rota.NewID(), rota.SetParams(map[string]any{"to": "b"}))
	q.refused("params of no job", err, rota.NotFound, "job_id")
}

func runNowScenario(q *queue) {
	ctx := q.Context()
	id := q.enqueue(mail{To: "a"}, rota.After(time.Hour)).ID
	for _, act := range []string{"a delayed job", "a ready job"} {
		job, err := q.RunNow(ctx, id)
		q.job(act, job, err)
	}
	q.run("mail", rota.OutcomeFailed)
	_, err := q.RunNow(ctx, id)
	q.note("an ended job or its retry", nil, err)
	_, err = q.RunNow(ctx, rota.NewID())
	q.refused("no job", err, rota.NotFound, "job_id")
}

func retryScenario(q *queue) {
	ctx := q.Context()
	id := q.enqueue(mail{To: "a"}, rota.Retries(0), rota.Unique("k")).ID
	_, err := q.Retry(ctx, id)
	q.refused("a waiting job", err, rota.Conflict, "job_id")
	q.run("mail", rota.OutcomeFailed)
	_, err = q.Retry(ctx, id, rota.SetParams(map[string]any{"to": ""}))
	q.refused("wrong params", err, rota.Invalid, "params.to")
	job, err := q.Retry(ctx, id, rota.SetParams(map[string]any{"to": "b"}))
	q.job("a dead one", job, err)
	again, err := q.Retry(ctx, id)
	q.job("the same again", again, err)
	_, err = q.Retry(ctx, rota.NewID())
	q.refused("no job", err, rota.NotFound, "job_id")
	_, err = q.Retry(ctx, id, rota.Priority(1))
	q.refused("an option of Edit", err, rota.Invalid, "priority")
}

func runAgainScenario(q *queue) {
	ctx := q.Context()
	id := q.enqueue(mail{To: "a"}, rota.Unique("k")).ID
	_, err := q.RunAgain(ctx, id)
	q.refused("a waiting job", err, rota.Conflict, "job_id")
	q.run("mail", rota.OutcomeCompleted)
	for range 2 {
		job, err := q.RunAgain(ctx, id, rota.SetParams(map[string]any{"count": 2}))
		q.job("a completed job", job, err)
	}
	_, err = q.RunAgain(ctx, rota.NewID())
	q.refused("no job", err, rota.NotFound, "job_id")
}

func jobScenario(q *queue) {
	ctx := q.Context()
	read := func(act string, id rota.ID) {
		q.Helper()
		job, err := q.Job(ctx, id)
		q.job(act, job, err)
	}
	read("delayed", q.enqueue(mail{To: "a"}, rota.After(time.Hour)).ID)
	read("ready", q.enqueue(fax{}, rota.Retries(0)).ID)
	running := q.claim("fax")
	read("running", running.ID)
	if _, err := rota.Do[*rota.Extended](ctx, q.store, &rota.Extend{Meta: rota.NewMeta("w"), Lease: time.Minute, Items: []rota.ExtendItem{
		{LeaseRef: running.Lease(), Progress: json.RawMessage(`{"percent":50}`)},
	}}); err != nil {
		q.Fatal(err)
	}
	read("with progress", running.ID)
	for _, outcome := range []rota.Outcome{rota.OutcomeCompleted, rota.OutcomeFailed, rota.OutcomeSkipped} {
		q.enqueue(text(`{}`), rota.Retries(0))
		read(string(outcome), q.run("text", outcome).ID)
	}
	_, err := q.Job(ctx, rota.NewID())
	q.refused("no job", err, rota.NotFound, "")
}

func executionScenario(q *queue) {
	ctx := q.Context()
	first := q.enqueue(mail{To: "a"}, rota.Retries(2), rota.Backoff(time.Hour)).ID
	q.run("mail", rota.OutcomeFailed)
	retry, err := q.RunNow(ctx, first)
	q.job("the retry", retry, err)
	q.run("mail", rota.OutcomeFailed)
	for _, id := range []rota.ID{first, retry.ID} { // that of any attempt
		attempts, err := q.Execution(ctx, id)
		q.note("attempts", len(attempts), err)
		for i, job := range attempts {
			q.job("attempt", job, err)
			if job.Attempt != i+1 {
				q.Errorf("attempt %d is at index %d", job.Attempt, i)
			}
		}
	}
	_, err = q.Execution(ctx, rota.NewID())
	q.refused("no execution", err, rota.NotFound, "")
}

func explainScenario(q *queue) {
	ctx := q.Context()
	reasons, err := q.Explain(ctx, q.enqueue(mail{To: "a"}, rota.After(time.Hour)).ID)
	q.note("delayed", reasons, err)
	_, err = q.Explain(ctx, rota.NewID())
	q.refused("no job", err, rota.NotFound, "")
}
