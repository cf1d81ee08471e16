package rota_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestOptionErrorsNameOption(t *testing.T) {
	ctx, client, now := context.Background(), rota.New(openStore(t)), time.Now()
	every := rota.Every(time.Hour)
	for name, c := range map[string]struct {
		err           error
		field, reason string
	}{
		"cron":                {enqueueWith(client, rota.Cron("0 7 * * *", "")), "cron", "the option Cron is for Schedule, not for Enqueue"},
		"every":               {enqueueWith(client, every), "every", "the option Every is for Schedule"},
		"starts":              {enqueueWith(client, rota.Starts(now)), "starts_at", "Starts"},
		"ends":                {enqueueWith(client, rota.Ends(now)), "ends_at", "Ends"},
		"scopes":              {enqueueWith(client, rota.Scopes("user", "7")), "scopes", `the option Scopes("user") is for Schedule`},
		"depends on":          {enqueueWith(client, rota.DependsOn("a")), "depends_on", "DependsOn"},
		"catch up":            {enqueueWith(client, rota.CatchUpAll), "catch_up", "CatchUp"},
		"overlap":             {enqueueWith(client, rota.OverlapSkip), "overlap", "Overlap"},
		"on completion":       {enqueueWith(client, rota.CompletionDrop), "on_completion", "OnCompletion"},
		"twice":               {enqueueWith(client, rota.Priority(1), rota.Retries(1), rota.Priority(1)), "priority", "the option Priority is given twice"},
		"nil":                 {enqueueWith(client, rota.Priority(1), nil), "options", "option 2 is nil"},
		"zero time":           {enqueueWith(client, rota.At(time.Time{})), "at", "is the zero time; omit the option"},
		"zero plan":           {enqueueWith(client, rota.Planned(time.Time{})), "plan_time", "is the zero time"},
		"empty key":           {enqueueWith(client, rota.Unique("")), "unique_key", "is empty; omit the option Unique"},
		"at and after":        {enqueueWith(client, rota.At(now), rota.After(time.Second)), "delay", "run_at is also given"},
		"unique for nothing":  {enqueueWith(client, rota.UniqueFor(time.Hour)), "unique_for", "is given without a unique_key"},
		"negative delay":      {enqueueWith(client, rota.After(-time.Second)), "delay", "is -1s"},
		"too many retries":    {enqueueWith(client, rota.Retries(100_000)), "max_retries", "allowed are 0 to 1000"},
		"half a scope":        {enqueueWith(client, rota.ForScope("user", "")), "scope_id", "is empty"},
		"after a schedule":    {client.Schedule(ctx, "s", mail{}, every, rota.After(time.Second)), "delay", "the option After is for Enqueue and Edit, not for Schedule"},
		"unique schedule":     {client.Schedule(ctx, "s", mail{}, every, rota.Unique("k")), "unique_key", "Unique"},
		"unique for schedule": {client.Schedule(ctx, "s", mail{}, every, rota.UniqueFor(time.Hour)), "unique_for", "UniqueFor"},
		"planned schedule":    {client.Schedule(ctx, "s", mail{}, every, rota.Planned(now)), "plan_time", "Planned"},
		"scoped schedule":     {client.Schedule(ctx, "s", mail{}, every, rota.ForScope("user", "7")), "scope_kind", "ForScope"},
		"named schedule":      {client.Schedule(ctx, "s", mail{}, every, rota.Name("x")), "name", "Name"},
		"overlap twice":       {client.Schedule(ctx, "s", mail{}, every, rota.OverlapSkip, rota.OverlapAllow), "overlap", "the option Overlap is given twice"},
		"scopes twice":        {client.Schedule(ctx, "s", mail{}, every, rota.Scopes("user", "1"), rota.Scopes("user", "2")), "scopes", `the option Scopes("user") is given twice`},
		"no scopes":           {client.Schedule(ctx, "s", mail{}, every, rota.Scopes("user")), "scopes", `has no "user"`},
		"no times":            {client.Schedule(ctx, "s", mail{}), "cron", "none of cron, at and every is given"},
		"cron and every":      {client.Schedule(ctx, "s", mail{}, every, rota.Cron("0 7 * * *", "")), "cron", "more than one of cron, at and every"},
		"empty cron":          {client.Schedule(ctx, "s", mail{}, rota.Cron("", "UTC")), "cron", `write it like "0 7 * * *"`},
		"zero interval":       {client.Schedule(ctx, "s", mail{}, rota.Every(0)), "every", "is 0"},
		"bad cron":            {client.Schedule(ctx, "s", mail{}, rota.Cron("61 * * * *", "")), "cron", "61"},
		"bad zone":            {client.Schedule(ctx, "s", mail{}, rota.Cron("0 7 * * *", "Mars/Base")), "timezone", "Mars/Base"},
		"bad name":            {client.Schedule(ctx, "a b", mail{}, every), "name", "contains ' '"},
		"bad priority":        {client.Schedule(ctx, "s", mail{}, every, rota.Priority(1<<30)), "priority", "allowed are"},
		"itself":              {client.Schedule(ctx, "s", mail{}, every, rota.DependsOn("s")), "depends_on[0]", "is the schedule itself"},
		"unknown word":        {client.Schedule(ctx, "s", mail{}, every, rota.Overlap("maybe")), "overlap", `is "maybe"; allowed are`},
	} {
		t.Run(name, func(t *testing.T) { wantInvalid(t, c.err, c.field, c.reason) })
	}
	if schedules, err := client.Store().Schedules(ctx, rota.ScheduleQuery{}); len(schedules) > 0 || err != nil {
		t.Errorf("there are %v, %v", schedules, err)
	}
}

func enqueueWith(client *rota.Client, options ...rota.Option) error {
	_, err := client.Enqueue(context.Background(), mail{"a"}, options...)
	return err
}

func TestScheduleDeclaresTemplateAndSchedule(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t), rota.WithActor("ada"))
	starts := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	if err := client.Schedule(ctx, "first", mail{"a"}, rota.Every(time.Minute)); err != nil {
		t.Fatal(err)
	}
	declare := func(options ...rota.Option) (*rota.Template, *rota.Schedule) {
		t.Helper()
		options = append(options, rota.Cron("0 7 * * *", "Europe/Berlin"), rota.Starts(starts), rota.Ends(starts.AddDate(1, 0, 0)),
			rota.Scopes("user", "8", "7"), rota.Scopes("team", "1"), rota.DependsOn("first"),
			rota.CatchUpAll, rota.OverlapSkip, rota.CompletionPreserve,
			rota.Priority(3), rota.Retries(1), rota.Backoff(time.Second), rota.BackoffMax(time.Minute), rota.Jitter(0.1), rota.Timeout(time.Hour))
		if err := client.Schedule(ctx, "daily", mail{"a"}, options...); err != nil {
			t.Fatal(err)
		}
		template, err := client.Store().Template(ctx, "daily")
		if err != nil {
			t.Fatal(err)
		}
		schedule, err := client.Store().Schedule(ctx, "daily")
		if err != nil {
			t.Fatal(err)
		}
		return template, schedule
	}
	template, schedule := declare(rota.Key("smtp"))
	wantTemplate := rota.TemplateSpec{
		Type: "mail", Params: []byte(`{"to":"a"}`), Priority: new(3), ConcurrencyKey: "smtp",
		Policy: rota.PolicyPatch{MaxRetries: new(1), Backoff: new(time.Second), BackoffMax: new(time.Minute), Jitter: new(0.1), Timeout: new(time.Hour)},
	}
	wantSchedule := rota.ScheduleSpec{
		Template: "daily", Cron: "0 7 * * *", Zone: "Europe/Berlin", StartsAt: starts, EndsAt: starts.AddDate(1, 0, 0),
		Scopes: []rota.Scope{{Kind: "team", ID: "1"}, {Kind: "user", ID: "7"}, {Kind: "user", ID: "8"}}, DependsOn: []string{"first"},
		CatchUp: rota.CatchUpAll, Overlap: rota.OverlapSkip, OnCompletion: rota.CompletionPreserve,
	}
	if !template.Spec.Equal(wantTemplate) || template.CreatedBy != "ada" {
		t.Errorf("the template is %+v", template)
	}
	if !schedule.Spec.Equal(wantSchedule) || schedule.State != rota.ScheduleEnabled || !schedule.NextFire.After(starts) {
		t.Errorf("the schedule is %+v", schedule)
	}
	template2, schedule2 := declare(rota.Key("smtp"))
	if template2.Version != template.Version || schedule2.Version != schedule.Version || !schedule2.NextFire.Equal(schedule.NextFire) {
		t.Error("declared again, it changed")
	}
	template3, schedule3 := declare()
	if template3.Version == template.Version || template3.Spec.ConcurrencyKey != "" || schedule3.Version != schedule.Version {
		t.Error("what was left out stayed, or what stayed changed")
	}
}

func TestScheduleWithAtFiresOnce(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	if err := client.Schedule(ctx, "once", mail{"a"}, rota.At(at), rota.CompletionDrop); err != nil {
		t.Fatal(err)
	}
	schedule, err := client.Store().Schedule(ctx, "once")
	if err != nil || !schedule.NextFire.Equal(at) || schedule.Spec.OnCompletion != rota.CompletionDrop {
		t.Errorf("got %+v, %v", schedule, err)
	}
}

func TestScheduleIsAllOrNothing(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	err := client.Schedule(ctx, "second", mail{"a"}, rota.Every(time.Hour), rota.DependsOn("first"))
	if rota.CodeOf(err) == "" || !strings.Contains(err.Error(), "first") {
		t.Errorf("got %v, want a refusal that names the schedule", err)
	}
	if _, err := client.Store().Template(ctx, "second"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("the template was left behind: %v", err)
	}
}

func TestScheduleRefusesArchivedTemplate(t *testing.T) {
	ctx, client := context.Background(), rota.New(openStore(t))
	if err := client.Schedule(ctx, "daily", mail{"a"}, rota.Every(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := rota.Do[*rota.TemplatePut](ctx, client.Store(), &rota.Archive{Meta: rota.NewMeta(""), Name: "daily"}); err != nil {
		t.Fatal(err)
	}
	for _, every := range []time.Duration{time.Hour, 2 * time.Hour} { // unchanged, and changed
		err := client.Schedule(ctx, "daily", mail{"a"}, rota.Every(every))
		if rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "is archived; unarchive") || !strings.Contains(err.Error(), "daily") {
			t.Errorf("got %v, want a Conflict that says so", err)
		}
	}
}
