package dynamo

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// A process that fires a time which another one has fired in the meantime takes no slot.
func TestSecondFireTakesNoSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		a, url := openTable(t, server)
		b := openTest(t, url+"&poll=1h")
		defer b.Close()
		begin := time.Now().Add(-10 * time.Second)
		declared, err := rota.Declare(rota.NewMeta(""), "tick", rota.ScheduleSpec{Template: "noop", Every: time.Hour}, begin)
		must(t, err)
		declared.Anchor = begin.Add(-time.Hour).Truncate(time.Microsecond)
		setUp := []rota.Command{
			&rota.PutType{Meta: rota.NewMeta(""), Name: "noop"}, &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "noop", Spec: rota.TemplateSpec{Type: "noop"}}, declared,
		}
		for _, result := range applied(t, a, begin, setUp...) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		must(t, b.log.CatchUp(t.Context()))
		s, err := a.Schedule(t.Context(), "tick")
		must(t, err)
		now := s.NextFire.Add(time.Second)
		before := a.log.replica.Applied().Index
		for i, one := range []*testStore{a, b} {
			fire, err := rota.PlanFire(rota.NewMeta(""), s, now, begin)
			must(t, err)
			fired, is := applied(t, one, now, fire)[0].Reply.(*rota.Fired)
			if !is || fired.ScheduleChanged != (i == 1) {
				t.Fatalf("process %d: %+v", i, fired)
			}
		}
		if after := b.log.replica.Applied().Index; after != before+1 {
			t.Errorf("two fires take %d slots, want 1", after-before)
		}
	})
}

func applied(t *testing.T, s *testStore, now time.Time, commands ...rota.Command) []rota.Result {
	t.Helper()
	results, err := s.Apply(t.Context(), rota.Batch{Now: now, Commands: commands})
	must(t, err)
	return results
}
