package rota

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestWebhookSubscribes(t *testing.T) {
	some := Webhook{Events: []EventKind{EventJobDead, EventScheduleMissed}}
	all := Webhook{}
	for _, kind := range EventKinds {
		if got, want := some.Subscribes(kind), kind == EventJobDead || kind == EventScheduleMissed; got != want {
			t.Errorf("%s: subscribed %t, want %t", kind, got, want)
		}
		if got, want := all.Subscribes(kind), kind != EventJobStopping; got != want {
			t.Errorf("%s: subscribed without a list %t, want %t", kind, got, want)
		}
	}
	if len(WebhookEvents) > 1<<6 {
		t.Error("a delivery id has 6 bits for the event, which is too few")
	}
}

func TestInternalTypeByPrefix(t *testing.T) {
	for typ, want := range map[string]bool{TypeWebhook: true, "rota.": true, "rota": false, "rotary.phone": false, "my.rota.webhook": false, "": false} {
		if InternalType(typ) != want {
			t.Errorf("%q is internal: %t", typ, !want)
		}
	}
}

// The id of a delivery depends on the delivery only, differs between deliveries, and sorts
// by the time of the event.
func TestDeliveryIDIsStableAndSortsByTime(t *testing.T) {
	id := func(change func(*Delivery)) ID {
		d := Delivery{URL: "https://example.org/", Event: EventJobFailed, Time: sampleTime, JobID: new(sampleID(1))}
		change(&d)
		return DeliveryID(EncodeSpec(d), d.Event, d.Time)
	}
	plain := id(func(*Delivery) {})
	if again := id(func(*Delivery) {}); again != plain {
		t.Errorf("the same delivery is %s and %s", plain, again)
	}
	if err := checkNewID("id", plain); err != nil {
		t.Error(err)
	}
	if !plain.Time().Equal(sampleTime.Truncate(time.Millisecond)) {
		t.Errorf("its time is %s", plain.Time())
	}
	seen := map[ID]bool{plain: true}
	for i, change := range []func(*Delivery){
		func(d *Delivery) { d.URL = "https://example.org/other" },
		func(d *Delivery) { d.Template = "mail" },
		func(d *Delivery) { d.Event = EventJobDead },
		func(d *Delivery) { d.JobID = new(sampleID(2)) },
		func(d *Delivery) { d.Time = sampleTime.Add(time.Microsecond) },
		func(d *Delivery) { d.Detail = "2 jobs" },
	} {
		if other := id(change); seen[other] {
			t.Errorf("change %d is not seen in the id", i)
		} else {
			seen[other] = true
		}
	}
	for i := range WebhookEvents[1:] {
		first, second := id(func(d *Delivery) { d.Event = WebhookEvents[i] }), id(func(d *Delivery) { d.Event = WebhookEvents[i+1] })
		if first.Compare(second) >= 0 {
			t.Errorf("%s does not come before %s", WebhookEvents[i], WebhookEvents[i+1])
		}
	}
	var last ID
	for us := range 3000 {
		next := id(func(d *Delivery) { d.Time = sampleTime.Add(time.Duration(us) * time.Microsecond) })
		if last.Compare(next) >= 0 {
			t.Fatalf("microsecond %d does not come after the one before", us)
		}
		last = next
	}
	early := id(func(d *Delivery) { d.Time = time.Date(1969, 1, 1, 0, 0, 0, 999, time.UTC) })
	if err := checkNewID("id", early); err != nil {
		t.Errorf("before the epoch: %v", err)
	}
}

func TestParseDeliveryReadsEncodedParams(t *testing.T) {
	d := Delivery{
		URL: "https://example.org/?a=1&b=<2>", Template: "mail", Event: EventScheduleFired, Time: sampleTime, JobID: new(sampleID(1)),
		Schedule: "nightly", PlanTime: sampleTime, GroupID: new(sampleID(2)), ReservationID: new(sampleID(3)), Detail: "2 jobs",
	}
	if back, err := ParseDelivery(EncodeSpec(d)); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("got %+v, %v", back, err)
	}
	if text := string(EncodeSpec(Delivery{Event: EventJobFailed, Time: sampleTime})); text != `{"url":"","event":"job.failed","time":"2026-11-15T03:30:00.123456Z"}` {
		t.Errorf("what is not there is written: %s", text)
	}
	if _, err := ParseDelivery([]byte(`[]`)); err == nil {
		t.Error("a list was read")
	}
}

func TestEqualWebhooks(t *testing.T) {
	one := []Webhook{{URL: "https://example.org/", Secret: "s"}}
	other := slices.Clone(one)
	other[0].Events = []EventKind{}
	if !EqualWebhooks(one, other) || !EqualWebhooks(nil, []Webhook{}) {
		t.Error("what is stored alike is not equal")
	}
	other[0].Secret = "t"
	if EqualWebhooks(one, other) || EqualWebhooks(one, nil) || EqualWebhooks(one, append(one, one...)) {
		t.Error("what is stored otherwise is equal")
	}
	own := CanonicalWebhooks(one)
	own[0].URL = "changed"
	if one[0].URL == "changed" || CanonicalWebhooks([]Webhook{}) != nil {
		t.Error("it is not a copy, or not of nothing")
	}
}
