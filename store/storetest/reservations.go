package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testReservations(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a reserved node claims nothing and other nodes claim", reserveHolds},
		{"a second reservation is refused as busy", reserveBusy},
		{"a reservation expires by itself", reserveExpires},
		{"an expired reservation is replaced by a new one", reserveReplacesExpired},
		{"heartbeats of the holder extend a reservation", reserveKept},
		{"heartbeats do not extend a reservation that ended or whose run has started", reserveNotKept},
		{"a released reservation has ended and does not change", releaseOver},
		{"reservations are listed newest first", reservationsListed},
		{"recovery expires a reservation of an earlier incarnation", reserveRecovered},
		{"a direct run starts at once and does not change the queue", directStarts},
		{"a direct run takes the values of its template", directTemplate},
		{"a direct run has no retries", directOnce},
		{"the end of a direct run releases the reservation", directEnds},
		{"the heartbeat of a direct run extends the reservation", directExtends},
		{"a reap of a direct run releases the node", directReaped},
		{"a reservation cannot be released while its direct run is open", directNotReleased},
		{"a direct run needs an active, unused reservation", directRefused},
		{"a direct run obeys the limits and a pause", directLimits},
		{"a direct run sent again is answered with its token while it runs", directAgain},
		{"the answer to a direct run has the time of the store", directTime},
	})
}

func (y *story) claimBy(worker string, limit int) []*rota.Job {
	y.Helper()
	c := y.claimCommand(limit)
	c.Worker = worker
	return do[*rota.Claimed](y, c).Jobs
}

func reserveHolds(y *story) {
	y.enqueueMany(3)
	running := y.claimOne()
	c := y.reserveCommand()
	r := do[*rota.Reserved](y, c).Reservation
	want(y, "id", r.ID, c.ReservationID())
	want(y, "node", r.Node, "w1")
	want(y, "incarnation", r.Incarnation, incarnationOne)
	want(y, "status", r.Status, rota.ReservationActive)
	want(y, "by", r.ReservedBy, "ada")
	wantTime(y, "at", r.ReservedAt, y.now)
	wantTime(y, "expires at", r.ExpiresAt, y.now.Add(rota.DefaultReservation))
	wantTime(y, "due", y.due().Expire, r.ExpiresAt)
	queue := y.queue()
	want(y, "claimed by the node", len(y.claimBy("w1", 5)), 0)
	want(y, "the order", len(y.queue()), len(queue))
	want(y, "code of a heartbeat of its run", y.heartbeat(running).Code, "")
	want(y, "claimed by another", y.claimBy("w2", 1)[0].ID, queue[0])
	y.release(r)
	want(y, "claimed by the node again", y.claimBy("w1", 5)[0].ID, queue[1])
}

func reserveBusy(y *story) {
	y.reserve()
	y.refused(rota.Busy, y.reserveCommand())
	other := y.reserveCommand()
	other.Node = "w2"
	y.refused(rota.Busy, other)
}

func reserveExpires(y *story) {
	c := y.reserveCommand()
	c.For = time.Minute
	r := do[*rota.Reserved](y, c).Reservation
	y.enqueueMany(2)
	y.advance(time.Minute - time.Microsecond)
	want(y, "claimed too early", len(y.claimBy("w1", 1)), 0)
	want(y, "expired too early", y.expire().Reservation, rota.ID{})
	y.advance(time.Microsecond)
	want(y, "claimed in time", len(y.claimBy("w1", 1)), 1)
	written := y.writtenAudit()
	expire := &rota.Expire{Meta: y.ids.meta()}
	want(y, "expired", do[*rota.Expired](y, expire).Reservation, r.ID)
	row := y.reservation(r.ID)
	want(y, "status", row.Status, rota.ReservationExpired)
	wantTime(y, "ended at", row.EndedAt, y.now)
	y.wantAuditSince(written, y.auditEffect(expire, rota.AuditReservationExpired, "reservation "+r.ID.String(), ""))
	wantTime(y, "due", y.due().Expire, time.Time{})
	y.wantField(rota.Conflict, "reservation_id", y.directCommand(r, rota.NewJob{}))
}

func reserveReplacesExpired(y *story) {
	old := y.reserve()
	y.advance(rota.DefaultReservation)
	written := y.writtenAudit()
	c := y.reserveCommand()
	r := do[*rota.Reserved](y, c).Reservation
	want(y, "status", r.Status, rota.ReservationActive)
	want(y, "status of the old", y.reservation(old.ID).Status, rota.ReservationExpired)
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditReservationExpired, "reservation "+old.ID.String(), ""))
	y.wantNoViolations()
}

// extendReservation sends a heartbeat for a reservation and for leases.
func (y *story) extendReservation(r *rota.Reservation, jobs ...*rota.Job) *rota.Extended {
	y.Helper()
	c := &rota.Extend{Meta: y.ids.meta(), Lease: lease, ReservationID: r.ID}
	for _, j := range jobs {
		c.Items = append(c.Items, rota.ExtendItem{LeaseRef: leaseOf(j)})
	}
	return do[*rota.Extended](y, c)
}

func reserveKept(y *story) {
	running := y.running(rota.NewJob{})
	c := y.reserveCommand()
	c.For = lease
	r := do[*rota.Reserved](y, c).Reservation
	for range 3 {
		y.advance(lease - time.Second)
		want(y, "the lease beside it", y.extendReservation(r, running).Items[0].Code, "")
		y.advance(time.Second)
		want(y, "answers without leases", len(y.extendReservation(r).Items), 0)
	}
	wantTime(y, "expires at", y.reservation(r.ID).ExpiresAt, y.now.Add(lease))
	wantTime(y, "due", y.due().Expire, y.now.Add(lease))
	want(y, "expired", y.expire().Reservation, rota.ID{})
	y.refused(rota.Busy, y.reserveCommand())
	y.advance(lease)
	want(y, "expired without heartbeats", y.expire().Reservation, r.ID)
}

func reserveNotKept(y *story) {
	long := y.reserve()
	y.extendReservation(long)
	wantTime(y, "expires at, kept for less", y.reservation(long.ID).ExpiresAt, long.ExpiresAt)
	before := y.dump()
	y.extendReservation(&rota.Reservation{ID: y.ids.next()})
	y.wantUnchanged(before)
	j := y.direct(long, rota.NewJob{})
	y.advance(rota.DefaultReservation - time.Second)
	before = y.dump()
	y.extendReservation(long)
	y.wantUnchanged(before)
	y.complete(j)
	released := y.reservation(long.ID)
	y.advance(time.Second)
	y.extendReservation(long)
	want(y, "status", y.reservation(long.ID).Status, rota.ReservationReleased)
	wantTime(y, "expires at", y.reservation(long.ID).ExpiresAt, released.ExpiresAt)
}

func releaseOver(y *story) {
	y.refused(rota.NotFound, &rota.Release{Meta: y.ids.meta(), ReservationID: y.ids.next()})
	r := y.reserve()
	y.advance(time.Second)
	row := y.release(r)
	want(y, "status", row.Status, rota.ReservationReleased)
	wantTime(y, "ended at", row.EndedAt, y.now)
	y.advance(time.Second)
	before := y.dump()
	want(y, "released again", y.release(r).Status, rota.ReservationReleased)
	y.wantUnchanged(before)
	y.reserve()
}

func reservationsListed(y *story) {
	var ids []rota.ID
	for range 3 {
		r := y.reserve()
		ids = append([]rota.ID{r.ID}, ids...)
		y.release(r)
	}
	list := func(before rota.ID, limit int) string {
		all, err := y.s.Reservations(y.ctx, before, limit)
		return joinNames(must(y, "reservations", all, err), func(r *rota.Reservation) string { return r.ID.String() })
	}
	want(y, "all", list(rota.ID{}, 0), joinNames(ids, rota.ID.String))
	want(y, "the first page", list(rota.ID{}, 2), joinNames(ids[:2], rota.ID.String))
	want(y, "the second page", list(ids[1], 2), joinNames(ids[2:], rota.ID.String))
}

func reserveRecovered(y *story) {
	r := y.reserve()
	same := &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationOne}
	want(y, "expired by its own incarnation", do[*rota.Recovered](y, same).Reservation, rota.ID{})
	other := &rota.Recover{Meta: y.ids.meta(), Runner: "w2", Incarnation: incarnationTwo}
	want(y, "expired by another node", do[*rota.Recovered](y, other).Reservation, rota.ID{})
	written := y.writtenAudit()
	c := &rota.Recover{Meta: y.ids.meta(), Runner: "w1", Incarnation: incarnationTwo}
	want(y, "expired", do[*rota.Recovered](y, c).Reservation, r.ID)
	want(y, "status", y.reservation(r.ID).Status, rota.ReservationExpired)
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditReservationExpired, "reservation "+r.ID.String(), ""))
}

func directStarts(y *story) {
	waits := y.enqueueMany(2)
	r := y.reserve()
	y.advance(time.Second)
	c := y.directCommand(r, rota.NewJob{Name: "now", Params: []byte(`{"a":1}`), Priority: new(-3)})
	j := do[*rota.Directed](y, c).Job
	id := c.JobID()
	expected := rota.Job{
		ID: id, ExecutionID: id, Type: "mail", Name: "now", Params: []byte(`{"a":1}`), Status: rota.StatusRunning,
		Priority: -3, Position: 100, Attempt: 1, Policy: rota.PolicyPatch{MaxRetries: new(0)}.Policy(),
		CreatedBy: "ada", CreatedAt: y.now, QueuedAt: y.now, StartedAt: y.now,
		Run: &rota.Run{
			ID: rota.RunID(c.ID, id), Runner: "w1", Incarnation: incarnationOne, Token: c.TokenFor(id),
			StartedAt: y.now, HeartbeatAt: y.now, StaleAfter: y.now.Add(lease),
		},
	}
	want(y, "difference of the answer", difference(jobText(&expected), jobText(j)), "")
	expected.Run.Token = rota.Token{}
	want(y, "difference of the row", difference(jobText(&expected), jobText(y.job(id))), "")
	want(y, "job of its reservation", y.reservation(r.ID).JobID, id)
	wantIDs(y, "the queue", y.queue(), waits...)
	want(y, "claimed while it runs", len(y.claim(5)), 0)
	want(y, "code of a heartbeat", y.heartbeat(j).Code, "")
	y.wantNoViolations()
}

func directTemplate(y *story) {
	y.declareTemplate("letter", templateSpec)
	j := y.direct(y.reserve(), rota.NewJob{Template: "letter", Params: []byte(`{"a":2}`)})
	want(y, "params", string(j.Params), `{"a":2,"deep":{"x":1}}`)
	want(y, "name", j.Name, "letter")
	want(y, "concurrency key", j.ConcurrencyKey, "smtp")
	want(y, "attempts", j.Policy.MaxAttempts, 1)
}

func directOnce(y *story) {
	j := y.direct(y.reserve(), rota.NewJob{})
	want(y, "sequel", y.fail(j).Sequel, rota.SequelDead)
}

func directEnds(y *story) {
	r := y.reserve()
	j := y.direct(r, rota.NewJob{})
	y.advance(time.Second)
	y.complete(j)
	row := y.reservation(r.ID)
	want(y, "status", row.Status, rota.ReservationReleased)
	wantTime(y, "ended at", row.EndedAt, y.now)
	y.enqueue(rota.NewJob{})
	y.claimOne()
}

func directExtends(y *story) {
	c := y.reserveCommand()
	c.For = time.Minute
	r := do[*rota.Reserved](y, c).Reservation
	j := y.direct(r, rota.NewJob{})
	wantTime(y, "expires at", y.reservation(r.ID).ExpiresAt, r.ExpiresAt)
	for range 3 {
		y.advance(20 * time.Second)
		y.heartbeat(j)
	}
	wantTime(y, "expires at", y.reservation(r.ID).ExpiresAt, y.now.Add(lease))
	y.enqueue(rota.NewJob{})
	want(y, "claimed", len(y.claim(1)), 0)
	want(y, "expired", y.expire().Reservation, rota.ID{})
	y.refused(rota.Busy, y.reserveCommand())
}

func directReaped(y *story) {
	r := y.reserve()
	y.direct(r, rota.NewJob{})
	y.advance(time.Hour)
	want(y, "reaped", len(y.reap().Jobs), 1)
	want(y, "status", y.reservation(r.ID).Status, rota.ReservationReleased)
	y.reserve()
}

func directNotReleased(y *story) {
	r := y.reserve()
	j := y.direct(r, rota.NewJob{})
	y.wantField(rota.Conflict, "reservation_id", &rota.Release{Meta: y.ids.meta(), ReservationID: r.ID})
	y.complete(j)
	want(y, "status", y.release(r).Status, rota.ReservationReleased)
}

func directRefused(y *story) {
	missing := &rota.Reservation{ID: y.ids.next()}
	y.wantField(rota.NotFound, "reservation_id", y.directCommand(missing, rota.NewJob{}))
	released := y.reserve()
	y.release(released)
	y.wantField(rota.Conflict, "reservation_id", y.directCommand(released, rota.NewJob{}))
	r := y.reserve()
	y.wantField(rota.NotFound, "job.template", y.directCommand(r, rota.NewJob{Template: "missing"}))
	y.declareTemplate("letter", rota.TemplateSpec{Params: oversized(rota.ParamsMax - 9)})
	y.wantField(rota.Invalid, "job.type", y.directCommand(r, rota.NewJob{Template: "letter", Type: "other"}))
	y.wantField(rota.Invalid, "job.params", y.directCommand(r, rota.NewJob{Template: "letter", Params: []byte(`{"b":"more"}`)}))
	y.archive("letter")
	y.wantField(rota.Conflict, "job.template", y.directCommand(r, rota.NewJob{Template: "letter"}))
	other := y.enqueue(rota.NewJob{})
	y.wantField(rota.Conflict, "job.id", y.directCommand(r, rota.NewJob{ID: other.ID}))
	y.direct(r, rota.NewJob{})
	y.wantField(rota.Conflict, "reservation_id", y.directCommand(r, rota.NewJob{}))
}

func directLimits(y *story) {
	y.enqueue(jobOfKey(0))
	y.claimOne()
	r := y.reserve()
	for _, spec := range []rota.ThrottleSpec{{Global: 1}, typeLimit(1, rota.Rate{}), keyLimit("db", 1)} {
		y.throttle(spec)
		y.refused(rota.Busy, y.directCommand(r, jobOfKey(0)))
	}
	y.throttle(rota.ThrottleSpec{})
	y.declareType("mail", rota.TypeSpec{})
	y.pause("mail", true)
	y.refused(rota.Busy, y.directCommand(r, rota.NewJob{}))
	y.pause("mail", false)
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Hour}))
	y.complete(y.direct(r, rota.NewJob{}))
	y.refused(rota.Busy, y.directCommand(y.reserve(), rota.NewJob{}))
}

func directAgain(y *story) {
	c := y.directCommand(y.reserve(), rota.NewJob{})
	first := do[*rota.Directed](y, c).Job
	y.advance(time.Hour)
	before := y.dump()
	again := do[*rota.Directed](y, c).Job
	want(y, "token", again.Run.Token, first.Run.Token)
	y.wantUnchanged(before)
	y.complete(again)
	before = y.dump()
	again = do[*rota.Directed](y, c).Job
	want(y, "token when it has ended", again.Run.Token, rota.Token{})
	want(y, "state", again.State(), rota.StateCompleted)
	y.wantUnchanged(before)
}

func directTime(y *story) {
	c := y.directCommand(y.reserve(), rota.NewJob{})
	wantTime(y, "now", do[*rota.Directed](y, c).Now, y.now)
	y.advance(time.Second)
	wantTime(y, "now, sent again", do[*rota.Directed](y, c).Now, y.now)
}
