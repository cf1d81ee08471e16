package rota_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func TestWebhookSubscribes(t *testing.T) {
	some := rota.Webhook{Events: []rota.EventKind{rota.EventJobDead, rota.EventScheduleMissed}}
	all := rota.Webhook{}
	for _, kind := range rota.EventKinds {
		if got, want := some.Subscribes(kind), kind == rota.EventJobDead || kind == rota.EventScheduleMissed; got != want {
			t.Errorf("%s: subscribed %t, want %t", kind, got, want)
		}
		if got, want := all.Subscribes(kind), slices.Contains(rota.DefaultWebhookEvents, kind); got != want {
			t.Errorf("%s: subscribed without a list %t, want %t", kind, got, want)
		}
	}
	if last := rota.DefaultWebhookEvents[len(rota.DefaultWebhookEvents)-1]; last != rota.EventReservationExpired {
		t.Errorf("the events of a webhook without a list end with %s", last)
	}
	if len(rota.WebhookEvents) > 1<<6 {
		t.Error("a delivery id has 6 bits for the event, which is too few")
	}
}

func TestInternalTypeByPrefix(t *testing.T) {
	for typ, want := range map[string]bool{rota.TypeWebhook: true, "rota.": true, "rota": false, "rotary.phone": false, "my.rota.webhook": false, "": false} {
		if rota.InternalType(typ) != want {
			t.Errorf("%q is internal: %t", typ, !want)
		}
	}
}

// The id of a delivery depends on the delivery only, differs between deliveries, and sorts
// by the time of the event.
func TestDeliveryIDIsStableAndSortsByTime(t *testing.T) {
	id := func(change func(*rota.Delivery)) rota.ID {
		d := rota.Delivery{URL: "https://example.org/", Event: rota.EventJobFailed, Time: samples.Time, JobID: new(samples.ID(1))}
		change(&d)
		return rota.DeliveryID(rota.EncodeSpec(d), d.Event, d.Time)
	}
	plain := id(func(*rota.Delivery) {})
	if again := id(func(*rota.Delivery) {}); again != plain {
		t.Errorf("the same delivery is %s and %s", plain, again)
	}
	if err := rota.CheckNewID("id", plain); err != nil {
		t.Error(err)
	}
	if !plain.Time().Equal(samples.Time.Truncate(time.Millisecond)) {
		t.Errorf("its time is %s", plain.Time())
	}
	seen := map[rota.ID]bool{plain: true}
	for i, change := range []func(*rota.Delivery){
		func(d *rota.Delivery) { d.URL = "https://example.org/other" },
		func(d *rota.Delivery) { d.Template = "mail" },
		func(d *rota.Delivery) { d.Event = rota.EventJobDead },
		func(d *rota.Delivery) { d.JobID = new(samples.ID(2)) },
		func(d *rota.Delivery) { d.Time = samples.Time.Add(time.Microsecond) },
		func(d *rota.Delivery) { d.Detail = "2 jobs" },
	} {
		if other := id(change); seen[other] {
			t.Errorf("change %d is not seen in the id", i)
		} else {
			seen[other] = true
		}
	}
	for i := range rota.WebhookEvents[1:] {
		first, second := id(func(d *rota.Delivery) { d.Event = rota.WebhookEvents[i] }), id(func(d *rota.Delivery) { d.Event = rota.WebhookEvents[i+1] })
		if first.Compare(second) >= 0 {
			t.Errorf("%s does not come before %s", rota.WebhookEvents[i], rota.WebhookEvents[i+1])
		}
	}
	var last rota.ID
	for us := range 3000 {
		next := id(func(d *rota.Delivery) { d.Time = samples.Time.Add(time.Duration(us) * time.Microsecond) })
		if last.Compare(next) >= 0 {
			t.Fatalf("microsecond %d does not come after the one before", us)
		}
		last = next
	}
	early := id(func(d *rota.Delivery) { d.Time = time.Date(1969, 1, 1, 0, 0, 0, 999, time.UTC) })
	if err := rota.CheckNewID("id", early); err != nil {
		t.Errorf("before the epoch: %v", err)
	}
}

func TestParseDeliveryReadsEncodedParams(t *testing.T) {
	d := rota.Delivery{
		URL: "https://example.org/?a=1&b=<2>", Template: "mail", Event: rota.EventScheduleFired, Time: samples.Time, JobID: new(samples.ID(1)),
		Schedule: "nightly", PlanTime: samples.Time, GroupID: new(samples.ID(2)), ReservationID: new(samples.ID(3)), Detail: "2 jobs",
	}
	if back, err := rota.ParseDelivery(rota.EncodeSpec(d)); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("got %+v, %v", back, err)
	}
	if text := string(rota.EncodeSpec(rota.Delivery{Event: rota.EventJobFailed, Time: samples.Time})); text != `{"url":"","event":"job.failed","time":"2026-11-15T03:30:00.123456Z"}` {
		t.Errorf("what is not there is written: %s", text)
	}
	if _, err := rota.ParseDelivery([]byte(`[]`)); err == nil {
		t.Error("a list was read")
	}
}

func TestEqualWebhooks(t *testing.T) {
	one := []rota.Webhook{{URL: "https://example.org/", Secret: "s"}}
	other := slices.Clone(one)
	other[0].Events = []rota.EventKind{}
	if !rota.EqualWebhooks(one, other) || !rota.EqualWebhooks(nil, []rota.Webhook{}) {
		t.Error("what is stored alike is not equal")
	}
	other[0].Secret = "t"
	if rota.EqualWebhooks(one, other) || rota.EqualWebhooks(one, nil) || rota.EqualWebhooks(one, append(one, one...)) {
		t.Error("what is stored otherwise is equal")
	}
	own := rota.CanonicalWebhooks(one)
	own[0].URL = "changed"
	if one[0].URL == "changed" || rota.CanonicalWebhooks([]rota.Webhook{}) != nil {
		t.Error("it is not a copy, or not of nothing")
	}
}
