package codec

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestEventsAreDecodedAsEncoded(t *testing.T) {
	at := time.UnixMicro(1_700_000_000_123_456).UTC()
	want := []rota.Event{
		{Kind: rota.EventGroupFinished},
		{
			Kind: rota.EventJobFailed, At: at, JobID: rota.NewID(), ExecutionID: rota.NewID(), RunID: rota.NewID(), Type: "t", Name: "n",
			Template: "tm", Schedule: "s", GroupID: rota.NewID(), Attempt: 3, PlanTime: at.Add(time.Second), QueuedAt: at.Add(2 * time.Second),
			DueAt: at.Add(3 * time.Second), StartedAt: at.Add(4 * time.Second), Runner: "w", ErrorCode: "c", Error: "e\x01\"\xff",
			ReservationID: rota.NewID(), Detail: "d",
		},
	}
	var data []byte
	for i := range want {
		var err error
		if data, err = AppendEvent(data, &want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := DecodeEvents(data); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v\nbecame %+v, %v", want, got, err)
	}
	if _, err := DecodeEvents(data[:len(data)-1]); err == nil {
		t.Error("a list that ends in the middle of an event was decoded")
	}
	impossible := rota.Event{At: time.Date(1_000_000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if out, err := AppendEvent(nil, &impossible); err == nil || len(out) != 0 {
		t.Errorf("%v was encoded as % x", impossible.At, out)
	}
}
