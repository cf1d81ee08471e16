package httpapi_test

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func TestGroupLifecycle(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	made := s.post("groups", `{"name": "release", "mode": "SEQUENTIAL", "on_failure": "stop", "jobs": [{"type": "a"}, {"type": "a"}, {"type": "a"}]}`).is(201)
	group := read[api.GroupDetail](made)
	if made.header.Get("Location") != "/api/v1/groups/"+group.ID.String() || group.Status != "QUEUED" || group.Size != 3 || group.Mode != "sequential" || group.OnFailure != "stop" ||
		len(group.Jobs) != 3 || group.Jobs[1].State != "blocked" || *group.Jobs[2].GroupPosition != 3 || group.Counts.Queued != 3 {
		t.Errorf("%s", made.text)
	}
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted})
	group = read[api.GroupDetail](s.get("groups/" + group.ID.String()).is(200))
	if group.Status != "RUNNING" || group.Counts.Completed != 1 || group.Jobs[0].State != "completed" || group.Jobs[1].State != "queued" {
		t.Errorf("%+v", group)
	}
	gone := read[api.GroupCancelled](s.post("groups/"+group.ID.String()+"/cancel", `{"reason": "off"}`).is(200))
	if gone.Cancelled != 2 || gone.Status != "PARTIAL" || gone.Ending != "cancel" || gone.EndingReason != "off" || gone.EndingBy != "admin" {
		t.Errorf("%+v", gone)
	}
	s.post("groups", `{"jobs": [{"type": "a"}]}`).is(201)
	if got := s.all("groups", 1); len(got) != 2 {
		t.Errorf("%v", got)
	}
	s.get("groups/"+rota.NewID().String()).problem(404, "not_found")
	s.post("groups/"+rota.NewID().String()+"/cancel", nil).problem(404, "not_found")
}

func TestSetLimits(t *testing.T) {
	s := newServer(t)
	if got := s.get("limits").is(200).text; got != `{"global":0,"types":{},"keys":{},"each_key":{},"each_key_of_type":{},"version":null}`+"\n" {
		t.Error(got)
	}
	s.declare("mail", "sms")
	put := s.send("PUT", "limits", `{"global": 100, "types": {"mail": {"concurrency": 5, "rate": "100/1m"}, "sms": {"rate": "7 / 1 HOUR"}}, "keys": {"k": 2}, "each_key": {"tenant:*": 1, "*": 7}, "each_key_of_type": {"mail": 3}}`).is(200)
	if put.text != s.get("limits").text {
		t.Error("GET differs from the response of PUT")
	}
	got := read[api.Throttle](put)
	if got.Global != 100 || got.Types["mail"] != (api.TypeLimit{Concurrency: 5, Rate: "100/1m"}) || got.Types["sms"].Rate != "7/1h" || got.Keys["k"] != 2 ||
		got.EachKey["tenant:*"] != 1 || got.EachKey["*"] != 7 || got.EachKeyOfType["mail"] != 3 {
		t.Errorf("%+v", got)
	}
	s.send("PUT", "limits", put.text).is(200)
	before := s.dump()
	for body, field := range map[string]string{
		`{"types": {"mail": {"rate": "often"}}}`: "types.mail.rate", `{"types": {"mail": {"rate": "1/x"}}}`: "types.mail.rate", `{"types": {"mail": {"rate": "0/1m"}}}`: "types.mail.rate",
		`{"types": {"mail": {"rate": "5/1ms"}}}`: "types.mail.rate", `{"types": {"a": {"concurrency": 1}, "mail": {"rate": "-5/1m"}}}`: "types.mail.rate",
		`{"types": {"mail": {"concurrency": -1}}}`: "types.mail.concurrency", `{"types": {"mail": {}}}`: "types.mail.concurrency", `{"types": {"a b": {"concurrency": 1}}}`: "types",
		`{"global": -1}`: "global", `{"global": "1"}`: "global", `{"keys": {"k": 0}}`: "keys.k", `{"keys": {"k": "x"}}`: "keys.k", `{"keys": {"": 1}}`: "keys", `{"types": {"mail": {"rates": "1/1m"}}}`: "types.mail.rates",
		`{"each_key": {"tenant:*": 0}}`: "each_key.tenant:*", `{"each_key": {"tenant:7": 1}}`: "each_key", `{"each_key": {"*:7": 1}}`: "each_key", `{"each_key": {"": 1}}`: "each_key",
		`{"each_key_of_type": {"mail": 0}}`: "each_key_of_type.mail", `{"each_key_of_type": {"a b": 1}}`: "each_key_of_type", `{"each_key_of_type": {"mial": 1}}`: "each_key_of_type.mial",
	} {
		if p := s.send("PUT", "limits", body).problem(422, "invalid"); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if p := s.send("PUT", "limits", `{"each_key": {"tenant:7": 1}}`).problem(422, "invalid"); p.Errors[0].Reason != `"tenant:7" has no * at its end; write a prefix and *, such as tenant:*, or use keys for one key` {
		t.Errorf("%+v", p)
	}
	if s.dump() != before {
		t.Error("something changed")
	}
	if got := s.send("PUT", "limits", `{}`).is(200).text; !strings.HasPrefix(got, `{"global":0,"types":{},"keys":{},"each_key":{},"each_key_of_type":{},"version":"`) {
		t.Error(got)
	}
}

func TestSetLimitsWithStaleVersionConflicts(t *testing.T) {
	s := newServer(t)
	first := read[api.Throttle](s.send("PUT", "limits", `{"global": 5, "version": null}`).is(200))
	s.send("PUT", "limits", `{"global": 6, "version": null}`).problem(409, "conflict")
	second := read[api.Throttle](s.send("PUT", "limits", `{"global": 7, "version": "`+first.Version.String()+`"}`).is(200))
	s.send("PUT", "limits", `{"global": 8, "version": "`+first.Version.String()+`"}`).problem(409, "conflict")
	if now := read[api.Throttle](s.get("limits").is(200)); now.Global != 7 || now.Version != second.Version {
		t.Errorf("%+v", now)
	}
}

func TestLimitOfUndeclaredTypeIsRefused(t *testing.T) {
	s := newServer(t)
	s.declare("noop", "mail")
	before := s.dump()
	p := s.send("PUT", "limits", `{"types": {"noopp": {"concurrency": 1}, "mail": {"concurrency": 1}, "unheard-of": {"rate": "1/1m"}}}`).problem(422, "invalid")
	if len(p.Errors) != 2 || p.Errors[0].Field != "types.noopp" || !strings.Contains(p.Errors[0].Reason, "did you mean noop?") || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	if len(p.Errors) == 2 && (p.Errors[1].Field != "types.unheard-of" || strings.Contains(p.Errors[1].Reason, "did you mean")) {
		t.Errorf("%+v", p.Errors[1])
	}
	if s.dump() != before {
		t.Error("something changed")
	}
	s.apply(&rota.PutThrottle{Meta: rota.NewMeta(""), Spec: rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "elsewhere", Concurrency: 3}}}})
	s.send("PUT", "limits", `{"types": {"elsewhere": {"concurrency": 4}, "noop": {"concurrency": 1}}}`).is(200)
	s.send("PUT", "limits", `{"types": {"noop": {"concurrency": 1}}}`).is(200)
	s.send("PUT", "limits", `{"types": {"elsewhere": {"concurrency": 4}}}`).problem(422, "invalid")
}

func TestStatsAndAuditAfterEnqueue(t *testing.T) {
	s := newServer(t)
	s.declare("a", "b")
	s.enqueue(`{"type": "a"}`)
	s.enqueue(`{"type": "b", "delay": "1h"}`)
	stats := read[api.Stats](s.get("stats").is(200))
	if stats.Queued != 1 || stats.Scheduled != 1 || len(stats.Types) != 2 || stats.Types[0].Type != "a" || stats.Now.IsZero() || stats.Oldest.IsZero() {
		t.Errorf("%+v", stats)
	}
	first := read[api.List[api.AuditEntry]](s.get("audit?act=TYPE_CREATED&subject=type+a").is(200)).Items[0]
	if first.Act != "TYPE_CREATED" || first.Actor != "admin" || first.Subject != "type a" {
		t.Errorf("%+v", first)
	}
}
