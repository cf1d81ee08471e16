package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDeliveries(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a delivery holds its event and its address, and is ready at once", deliveryShape},
		{"each end of a job creates one delivery", deliveryOutcomes},
		{"a failure, its retry and the dead letter create deliveries", deliveryChain},
		{"cancelled, reaped, recovered and skipped jobs create deliveries", deliveryOthers},
		{"a schedule that fires, misses times or is disabled creates deliveries", deliverySchedules},
		{"a reservation that begins or ends creates deliveries", deliveryReservations},
		{"a group member and a direct run create deliveries", deliveryGroupAndDirect},
		{"a webhook receives only its events", deliveryFilter},
		{"the webhooks of a template receive only events of its jobs", deliveryTemplate},
		{"one address in both lists gets one delivery for each", deliveryBoth},
		{"webhooks put in the same command as a job receive its events", deliverySameStep},
		{"removed webhooks receive no more events", deliveryRemovedWebhook},
		{"heartbeats, notes, moves and edits create no deliveries", deliveryNone},
		{"refused commands create no deliveries, the others of the batch do", deliveryRefused},
		{"a batch creates the deliveries of its commands one by one", deliveryBatch},
		{"a delivery creates no deliveries itself", deliveryOfDelivery},
		{"a failed delivery is retried and becomes dead like any job", deliveryRetried},
	})
}

// deliveries returns all deliveries, oldest first.
func (y *story) deliveries() []*rota.Job {
	y.Helper()
	jobs, err := allJobs(y.ctx, y.s, rota.JobQuery{Type: rota.TypeWebhook, Limit: dumpPage})
	must(y, "deliveries", jobs, err)
	slices.Reverse(jobs)
	return jobs
}

// parseDelivery returns the content of a delivery.
func (y *story) parseDelivery(j *rota.Job) rota.Delivery {
	y.Helper()
	d, err := rota.ParseDelivery(j.Params)
	return must(y, "params", d, err)
}

// wantDeliveries wants exactly these deliveries since the last call, each written as the name
// of its webhook and the event, and removes them.
func (y *story) wantDeliveries(wanted ...string) {
	y.Helper()
	var got []string
	for _, j := range y.deliveries() {
		d := y.parseDelivery(j)
		name, _, _ := strings.Cut(strings.TrimPrefix(d.URL, "https://"), ".")
		got = append(got, name+" "+string(d.Event))
		y.cancel(j.ID)
		y.prune(j.ID)
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		y.Errorf("deliveries are\n  %s\nwant\n  %s", strings.Join(got, ", "), strings.Join(wanted, ", "))
	}
}

func deliveryShape(y *story) {
	y.putWebhooks(hook("a"))
	y.declareTemplate("letter", rota.TemplateSpec{})
	y.advance(time.Second)
	job := y.enqueue(rota.NewJob{Type: "mail", Template: "letter"})
	all := y.deliveries()
	if len(all) != 1 {
		y.Fatalf("%d deliveries, want 1", len(all))
	}
	j := all[0]
	d := rota.Delivery{URL: hook("a").URL, Event: rota.EventJobEnqueued, Time: y.now, JobID: &job.ID}
	params := rota.EncodeSpec(d)
	expected := rota.Job{
		ID: rota.DeliveryID(params, d.Event, d.Time), ExecutionID: rota.DeliveryID(params, d.Event, d.Time), Type: rota.TypeWebhook,
		Name: "webhook", Params: params, Status: rota.StatusQueued, Priority: rota.PriorityMin, Attempt: 1, Policy: rota.DeliveryPolicy,
		CreatedBy: "rota", CreatedAt: y.now, QueuedAt: y.now,
	}
	want(y, "difference of the delivery", difference(jobText(&expected), jobText(j)), "")
	got := y.parseDelivery(j)
	want(y, "secret", strings.Contains(string(j.Params), "secret"), false)
	want(y, "job", *got.JobID, job.ID)
	wantTime(y, "time", got.Time, y.now)
	want(y, "template", got.Template, "")
	claimed := y.claim(5, rota.TypeWebhook)
	wantIDs(y, "claimed", idsOf(claimed), j)
	want(y, "violations", violations(y.ctx, y.s), "")
}

func deliveryOutcomes(y *story) {
	y.putWebhooks(hook("a"))
	end := func(wanted string, it rota.FinishItem) {
		y.Helper()
		y.advance(time.Second)
		y.mustFinish(y.running(rota.NewJob{}), it)
		y.wantDeliveries("a job.enqueued", "a job.started", wanted)
	}
	end("a job.completed", rota.FinishItem{Outcome: rota.OutcomeCompleted})
	end("a job.skipped", rota.FinishItem{Outcome: rota.OutcomeSkipped})
	end("a job.cancelled", rota.FinishItem{Outcome: rota.OutcomeCancelled})
	y.advance(time.Second)
	y.timeOut(y.running(rota.NewJob{MaxRetries: ptr(0)}))
	y.wantDeliveries("a job.enqueued", "a job.started", "a job.failed", "a job.dead")
	y.advance(time.Second)
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.complete(j)
	y.wantDeliveries("a job.enqueued", "a job.started", "a job.completed")
}

func deliveryChain(y *story) {
	y.putWebhooks(hook("a"), hook("d", rota.EventJobDead))
	j := y.running(rota.NewJob{MaxRetries: new(1), Backoff: new(time.Duration(0))})
	y.wantDeliveries("a job.enqueued", "a job.started")
	retry := y.fail(j).RetryID
	wanted := map[rota.EventKind]rota.ID{}
	for _, one := range y.deliveries() {
		d := y.parseDelivery(one)
		wanted[d.Event] = *d.JobID
	}
	want(y, "the one that failed", wanted[rota.EventJobFailed], j.ID)
	want(y, "its retry", wanted[rota.EventJobEnqueued], retry)
	y.wantDeliveries("a job.failed", "a job.enqueued")
	last := y.claimOne()
	y.wantDeliveries("a job.started")
	y.fail(last)
	all := y.deliveries()
	want(y, "event of the first delivery", y.parseDelivery(all[0]).Event, rota.EventJobFailed)
	y.wantDeliveries("a job.failed", "a job.dead", "d job.dead")
	y.redrive(j.ID)
	y.wantDeliveries("a job.enqueued")
}

func deliveryOthers(y *story) {
	y.putWebhooks(hook("a", rota.EventJobCancelled, rota.EventJobFailed, rota.EventJobDead, rota.EventJobSkipped))
	y.cancel(y.enqueue(rota.NewJob{}).ID)
	y.wantDeliveries("a job.cancelled")
	stopping := y.running(rota.NewJob{})
	y.cancel(stopping.ID)
	y.wantDeliveries()
	y.mustFinish(stopping, rota.FinishItem{Outcome: rota.OutcomeFailed})
	y.wantDeliveries("a job.cancelled")
	y.running(rota.NewJob{MaxRetries: new(0)})
	y.advance(time.Hour)
	y.reap()
	y.wantDeliveries("a job.failed", "a job.dead")
	y.running(rota.NewJob{})
	y.recover()
	y.wantDeliveries("a job.failed")
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.trigger("nightly")
	y.fireNext("nightly")
	y.wantDeliveries("a job.skipped")
}

func deliverySchedules(y *story) {
	y.putWebhooks(hook("s", rota.EventScheduleFired, rota.EventScheduleMissed, rota.EventScheduleDisabled))
	y.declare("nightly", rota.ScheduleSpec{Scopes: tenants})
	y.advanceTo(y.schedule("nightly").NextFire)
	y.fire("nightly")
	all := y.deliveries()
	if len(all) != 1 {
		y.Fatalf("%d deliveries, want 1", len(all))
	}
	d := y.parseDelivery(all[0])
	want(y, "schedule", d.Schedule, "nightly")
	want(y, "detail", d.Detail, "2 jobs")
	wantTime(y, "plan time", d.PlanTime, y.now)
	want(y, "job", d.JobID == nil, true)
	y.wantDeliveries("s schedule.fired")
	y.declare("hourly", rota.ScheduleSpec{CatchUp: rota.CatchUpNone})
	y.advance(5*time.Hour + 10*time.Minute)
	y.fire("hourly")
	y.wantDeliveries("s schedule.missed")
	y.archive("report")
	y.wantDeliveries("s schedule.disabled", "s schedule.disabled")
	y.unarchive("report")
	y.declare("often", rota.ScheduleSpec{Every: time.Minute})
	y.advance(time.Minute)
	first := y.fireCommand("often")
	second := *first
	second.Meta, second.Expect, second.Next = y.ids.meta(), first.Next, first.Next.Add(time.Minute)
	second.Times = []rota.FireTime{{At: first.Next}}
	y.advance(time.Minute)
	for _, r := range y.send(first, &second) {
		want(y, "fired at once", len(r.Reply.(*rota.Fired).Jobs), 1)
	}
	y.wantDeliveries("s schedule.fired", "s schedule.fired")
}

func deliveryReservations(y *story) {
	y.putWebhooks(hook("r", rota.EventReservationActive, rota.EventReservationReleased, rota.EventReservationExpired))
	first := y.reserve()
	all := y.deliveries()
	want(y, "reservation", *y.parseDelivery(all[0]).ReservationID, first.ID)
	y.wantDeliveries("r reservation.active")
	y.advance(rota.DefaultReservation)
	second := y.reserve()
	y.wantDeliveries("r reservation.expired", "r reservation.active")
	y.release(second)
	y.wantDeliveries("r reservation.released")
	y.release(second)
	y.wantDeliveries()
	j := y.direct(y.reserve(), rota.NewJob{})
	y.complete(j)
	y.wantDeliveries("r reservation.active", "r reservation.released")
}

func deliveryGroupAndDirect(y *story) {
	y.putWebhooks(hook("a"))
	group := y.enqueueGroup(rota.GroupSequential, rota.FailureSkip, rota.NewJob{}, rota.NewJob{})
	for _, j := range y.deliveries() {
		want(y, "group", *y.parseDelivery(j).GroupID, group.Group.ID)
	}
	y.wantDeliveries("a job.enqueued", "a job.enqueued")
	y.failPermanently(y.claimOne())
	y.wantDeliveries("a job.started", "a job.failed", "a job.dead", "a job.skipped")
	r := y.reserve()
	y.direct(r, rota.NewJob{})
	y.wantDeliveries("a reservation.active", "a job.enqueued", "a job.started")
}

func deliveryFilter(y *story) {
	y.putWebhooks(hook("f", rota.EventJobFailed), hook("c", rota.EventJobCompleted), hook("g", rota.EventGroupFinished))
	y.complete(y.running(rota.NewJob{}))
	y.wantDeliveries("c job.completed")
	y.failPermanently(y.running(rota.NewJob{}))
	y.wantDeliveries("f job.failed")
}

func deliveryTemplate(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{Webhooks: []rota.Webhook{hook("t")}})
	y.declareTemplate("report", rota.TemplateSpec{})
	y.enqueue(rota.NewJob{})
	y.wantDeliveries()
	y.complete(y.claimOne())
	y.enqueue(rota.NewJob{Type: "mail", Template: "report"})
	y.wantDeliveries()
	y.complete(y.claimOne())
	y.running(rota.NewJob{Type: "mail", Template: "letter"})
	want(y, "template", y.parseDelivery(y.deliveries()[0]).Template, "letter")
	y.wantDeliveries("t job.enqueued", "t job.started")
	y.declare("nightly", rota.ScheduleSpec{Template: "letter"})
	y.fireNext("nightly")
	y.wantDeliveries("t job.enqueued")
	y.archive("letter")
	y.cancel(y.newestJobOf("nightly"))
	y.wantDeliveries("t job.cancelled")
}

// newestJobOf returns the newest job of a schedule.
func (y *story) newestJobOf(name string) rota.ID {
	y.Helper()
	jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Schedule: name})
	return must(y, "jobs", jobs, err)[0].ID
}

func deliveryBoth(y *story) {
	y.putWebhooks(hook("a", rota.EventJobEnqueued), hook("b", rota.EventJobEnqueued))
	y.declareTemplate("letter", rota.TemplateSpec{Webhooks: []rota.Webhook{hook("a")}})
	y.enqueue(rota.NewJob{Type: "mail", Template: "letter"})
	y.wantDeliveries("a job.enqueued", "a job.enqueued", "b job.enqueued")
}

func deliverySameStep(y *story) {
	y.send(y.allOf(y.enqueueCommand(rota.NewJob{}), y.webhooksCommand(hook("a"))))
	y.wantDeliveries("a job.enqueued")
	y.send(y.allOf(
		y.templateCommand("letter", rota.TemplateSpec{Webhooks: []rota.Webhook{hook("t")}}),
		y.enqueueCommand(rota.NewJob{Type: "mail", Template: "letter"}), y.webhooksCommand(),
	))
	y.wantDeliveries("t job.enqueued")
	y.send(y.webhooksCommand(hook("a")), y.enqueueCommand(rota.NewJob{}), y.webhooksCommand(), y.enqueueCommand(rota.NewJob{}))
	y.wantDeliveries("a job.enqueued")
}

func deliveryRemovedWebhook(y *story) {
	y.putWebhooks(hook("a"))
	spec := rota.TemplateSpec{Webhooks: []rota.Webhook{hook("t")}}
	y.declareTemplate("letter", spec)
	y.enqueue(rota.NewJob{Type: "mail", Template: "letter"})
	y.wantDeliveries("a job.enqueued", "t job.enqueued")
	y.putWebhooks()
	y.claimOne()
	y.wantDeliveries("t job.started")
	y.declareTemplate("letter", rota.TemplateSpec{})
	y.running(rota.NewJob{Type: "mail", Template: "letter"})
	y.wantDeliveries()
}

func deliveryNone(y *story) {
	j := y.running(rota.NewJob{})
	jobs := y.enqueueMany(3)
	y.enqueue(rota.NewJob{Delay: time.Second})
	y.putWebhooks(hook("a"))
	y.advance(time.Minute)
	y.heartbeat(j)
	y.note(j, rota.NoteItem{Artifacts: []string{"a"}})
	y.move(jobs[2], rota.PlaceTop, nil)
	y.edit(jobs[1].ID, toPriority(3))
	y.makeReady()
	y.pauseAndResume("mail")
	y.declare("nightly", rota.ScheduleSpec{})
	y.throttle(rota.ThrottleSpec{Global: 9})
	y.wantDeliveries()
}

// pauseAndResume pauses a type and resumes it.
func (y *story) pauseAndResume(name string) {
	y.Helper()
	y.declareType(name, rota.TypeSpec{})
	y.pause(name, true)
	y.pause(name, false)
}

func deliveryRefused(y *story) {
	y.putWebhooks(hook("a"))
	y.send(y.enqueueCommand(rota.NewJob{}), y.enqueueCommand(rota.NewJob{Type: "no spaces"}), y.cancelCommand(y.ids.next()), y.claimCommand(1))
	y.wantDeliveries("a job.enqueued", "a job.started")
	y.send(y.allOf(y.enqueueCommand(rota.NewJob{}), y.cancelCommand(y.ids.next())))
	y.wantDeliveries()
	y.send(y.allOf(y.webhooksCommand(hook("b")), y.cancelCommand(y.ids.next())), y.enqueueCommand(rota.NewJob{}))
	y.wantDeliveries("a job.enqueued")
}

func deliveryBatch(y *story) {
	y.putWebhooks(hook("a"))
	y.send(y.enqueueCommand(rota.NewJob{}, rota.NewJob{}), y.enqueueCommand(rota.NewJob{}), y.enqueueCommand(rota.NewJob{}))
	y.wantDeliveries("a job.enqueued", "a job.enqueued", "a job.enqueued", "a job.enqueued")
	var ends []rota.Command
	for i, j := range y.claim(4) {
		it := rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeCompleted}
		if i%2 == 1 {
			it = rota.FinishItem{LeaseRef: leaseOf(j), Outcome: rota.OutcomeFailed, Permanent: true}
		}
		ends = append(ends, &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{it}})
	}
	y.wantDeliveries("a job.started", "a job.started", "a job.started", "a job.started")
	y.send(ends...)
	y.wantDeliveries("a job.completed", "a job.failed", "a job.dead", "a job.completed", "a job.failed", "a job.dead")
}

func deliveryOfDelivery(y *story) {
	y.putWebhooks(hook("a"))
	y.enqueueMany(4)
	own := y.claim(3, rota.TypeWebhook)
	want(y, "claimed", len(own), 3)
	y.complete(own[0])
	y.fail(own[1])
	y.failPermanently(own[2])
	y.cancel(y.claim(1, rota.TypeWebhook)[0].ID)
	y.redrive(own[2].ID)
	y.advance(24 * time.Hour)
	y.makeReady()
	y.reap()
	for _, j := range y.deliveries() {
		want(y, "event of a delivery", y.parseDelivery(j).Event, rota.EventJobEnqueued)
	}
	want(y, "deliveries, a retry and a redrive", len(y.deliveries()), 6)
	want(y, "violations", violations(y.ctx, y.s), "")
}

func deliveryRetried(y *story) {
	y.putWebhooks(hook("a"))
	user := y.enqueue(rota.NewJob{Priority: new(rota.PriorityMin)})
	first := y.claim(1, rota.TypeWebhook)[0]
	j := first
	for n := 1; n < rota.DeliveryPolicy.MaxAttempts; n++ {
		answer := y.fail(j)
		want(y, "sequel", answer.Sequel, rota.SequelRetry)
		y.advanceTo(answer.RetryAt)
		y.makeReady()
		j = y.claim(1, rota.TypeWebhook)[0]
		want(y, "execution", j.ExecutionID, first.ID)
		want(y, "params", string(j.Params), string(first.Params))
		want(y, "position", j.Position, 0)
	}
	want(y, "the last", y.fail(j).Sequel, rota.SequelDead)
	again := y.redrive(first.ID)
	want(y, "params", string(again.Params), string(first.Params))
	want(y, "position", again.Position, 0)
	want(y, "position of the next", y.enqueue(rota.NewJob{Priority: new(rota.PriorityMin)}).Position, user.Position+rota.PositionGap)
	want(y, "violations", violations(y.ctx, y.s), "")
}
