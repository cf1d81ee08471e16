package explain

import (
	"time"

	"github.com/rotajobs/rota"
)

// aboutKey returns the facts about a job with a concurrency key that allows two
// jobs at once.
func aboutKey(hold rota.Hold, open, ready int) *Facts {
	return about(func(j *rota.Job, f *Facts) {
		j.ConcurrencyKey, j.Hold = "db", hold
		f.Limits.Keys = []rota.KeyLimit{{Key: "db", Concurrency: 2}}
		f.OpenKey, f.ReadyKey = open, ready
	})
}

const whenOneEnds = "It may start when one of them ends; to let more run at once, raise the limit of the key in keys: PUT /api/v1/limits."

var limits = []explained{
	{
		"its key is at its limit",
		aboutKey(rota.HoldKey, 2, 0),
		only(because(rota.ReasonKeyLimit, "2 jobs with the concurrency key db run, and the limit is 2.", whenOneEnds)),
	},
	{
		"its key is at its limit although it is ready",
		aboutKey(0, 2, 1),
		[]rota.Reason{because(rota.ReasonKeyLimit, "2 jobs with the concurrency key db run, and the limit is 2.", whenOneEnds), first},
	},
	{
		"others of its key are ready",
		aboutKey(rota.HoldKey, 1, 1),
		only(because(rota.ReasonKeyLimit, "At most 2 jobs with the concurrency key db may run at once; running: 1, ready before it, of its type: 1.", whenOneEnds)),
	},
	{
		"its key is below its limit and it was not released",
		aboutKey(rota.HoldKey, 1, 0),
		only(because(rota.ReasonKeyLimit, "The concurrency key db is below its limit, and this job is about to be released.", remedyServer)),
	},
	{
		"its key has no limit any more and it was not released",
		about(func(j *rota.Job, _ *Facts) { j.ConcurrencyKey, j.Hold = "db", rota.HoldKey }),
		only(because(rota.ReasonKeyLimit, "The concurrency key db has no limit any more, and this job is about to be released.", remedyServer)),
	},
	{
		"its key is at the limit of its prefix",
		about(func(j *rota.Job, f *Facts) {
			j.ConcurrencyKey, j.Hold, f.OpenKey = "tenant:7", rota.HoldKey, 1
			f.Limits.EachKey = []rota.EachKeyLimit{{Pattern: "*", Concurrency: 3}, {Pattern: "tenant:*", Concurrency: 1}}
		}),
		only(because(rota.ReasonKeyLimit, "1 job with the concurrency key tenant:7 runs, and the limit is 1.",
			"It may start when one of them ends; to let more run at once, raise the limit of each key tenant:* in each_key: PUT /api/v1/limits.")),
	},
	{
		"its key is at the limit of each key of its type",
		about(func(j *rota.Job, f *Facts) {
			j.ConcurrencyKey, j.Hold, f.OpenKey, f.ReadyKey = "tenant:7", rota.HoldKey, 1, 1
			f.Limits.EachKeyOfType = []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 2}}
		}),
		only(because(rota.ReasonKeyLimit, "At most 2 jobs of type mail with the concurrency key tenant:7 may run at once; running: 1, ready before it, of its type: 1.",
			"It may start when one of them ends; to let more run at once, raise the limit of each key of type mail in each_key_of_type: PUT /api/v1/limits.")),
	},
	{
		"everything is at its limit",
		about(func(_ *rota.Job, f *Facts) { f.Limits.Global, f.Open = 5, 5 }),
		[]rota.Reason{
			because(rota.ReasonGlobalLimit, "5 jobs of all types run, and the limit is 5.",
				"The next one starts when one of them ends; to let more run at once, raise the global limit: PUT /api/v1/limits."),
			first,
		},
	},
	{
		"its type is at its limit",
		about(func(_ *rota.Job, f *Facts) {
			f.Limits.Types, f.OpenType = []rota.TypeLimit{{Type: "mail", Concurrency: 5}}, 6
		}),
		[]rota.Reason{
			because(rota.ReasonTypeLimit, "6 jobs of type mail run, and the limit is 5.",
				"The next one starts when one of them ends; to let more run at once, raise the limit of the type: PUT /api/v1/limits."),
			first,
		},
	},
	{
		"its type has started as often as its rate allows",
		about(func(_ *rota.Job, f *Facts) {
			rate := rota.Rate{Count: 2, Per: time.Hour}
			f.Limits.Types = []rota.TypeLimit{{Type: "mail", Rate: rate}}
			f.Bucket = new(rota.Bucket{Type: "mail"}.At(rate, testNow))
			f.Bucket.Starts[0] = 2
		}),
		[]rota.Reason{
			until(because(rota.ReasonRate, "Jobs of type mail have started as often as the rate allows: 2 in 1h.",
				"The next may start at 2026-05-04T13:03:45Z; to let more start, raise the rate of the type: PUT /api/v1/limits."),
				testNow.Add(time.Hour+3*time.Minute+45*time.Second)),
			first,
		},
	},
	{
		"a node is reserved",
		about(func(_ *rota.Job, f *Facts) {
			f.Reservation = &rota.Reservation{Node: "w1", Status: rota.ReservationActive, ExpiresAt: testNow.Add(time.Minute)}
		}),
		[]rota.Reason{
			until(because(rota.ReasonReservation,
				"Node w1 is reserved for a direct run until 2026-05-04T12:01:00Z and takes no job from the queue until then.",
				"The node continues when the reservation ends; another node may take jobs of type mail at any time."), testNow.Add(time.Minute)),
			first,
		},
	},
	{
		"a direct run is under way",
		about(func(_ *rota.Job, f *Facts) {
			f.Reservation = &rota.Reservation{Node: "w1", Status: rota.ReservationActive, ExpiresAt: testNow.Add(time.Minute), JobID: jobID(2)}
		}),
		[]rota.Reason{
			naming(until(because(rota.ReasonReservation,
				"Node w1 is reserved for the direct run of job "+other+" until 2026-05-04T12:01:00Z and takes no job from the queue until then.",
				"The node continues when the reservation ends; another node may take jobs of type mail at any time."), testNow.Add(time.Minute)), 2),
			first,
		},
	},
}

// aboutOrder returns the facts about a job that only the order holds back.
func aboutOrder(before, ofType int) *Facts {
	return about(func(_ *rota.Job, f *Facts) { f.Before, f.BeforeType = before, ofType })
}

const toTheTop = "It starts after them; to move it to the front: rota job move " + self + " --top, or rota job priority " + self + " N."

var orders = []explained{
	{
		"it is the first in the order",
		aboutOrder(0, 0),
		only(because(rota.ReasonOrder, "It is the first in the order.",
			"The next worker for type mail with a free slot takes it; if none does, check that one is running.")),
	},
	{
		"it is the first of its type",
		aboutOrder(1, 0),
		only(because(rota.ReasonOrder, "It is the first of type mail; in the whole order 1 ready job comes before it.",
			"The next worker for type mail with a free slot takes it, unless it takes the jobs before it as well; if none does, check that one is running.")),
	},
	{
		"others come before it",
		aboutOrder(12, 3),
		only(because(rota.ReasonOrder, "In the order 12 ready jobs come before it, 3 of type mail.", toTheTop)),
	},
	{
		"very many come before it",
		aboutOrder(CountMax+2, CountMax+1),
		only(because(rota.ReasonOrder, "In the order more than 10,000 ready jobs come before it, more than 10,000 of type mail.", toTheTop)),
	},
	{
		"a limit that is not reached, an expired reservation and a resumed type hold nothing back",
		about(func(j *rota.Job, f *Facts) {
			j.ConcurrencyKey = "db"
			f.Limits = rota.ThrottleSpec{
				Global: 2, Keys: []rota.KeyLimit{{Key: "db", Concurrency: 2}},
				Types: []rota.TypeLimit{{Type: "mail", Concurrency: 2, Rate: rota.Rate{Count: 1, Per: time.Hour}}},
			}
			f.Open, f.OpenType, f.OpenKey = 1, 1, 1
			f.Type, f.Group = &rota.Type{Name: "mail"}, &rota.Group{ID: jobID(3)}
			f.Reservation = &rota.Reservation{Node: "w1", Status: rota.ReservationActive, ExpiresAt: testNow}
		}),
		only(because(rota.ReasonOrder, "It is the first in the order.",
			"The next worker for type mail with a free slot takes it; if none does, check that one is running.")),
	},
}
