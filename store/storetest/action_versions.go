package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// actionVersions sends each command that acts on one row with a version that the row does not have, then with its
// version, and then the same command again after another one has changed the row.
func actionVersions(y *story) {
	y.declareType("mail", rota.TypeSpec{})
	y.declare("nightly", rota.ScheduleSpec{})
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	waiting := y.enqueue(rota.NewJob{})
	y.edit(waiting.ID, func(c *rota.Edit) { c.Priority = new(3) })
	times := []rota.FireTime{{At: y.now.Add(-time.Hour)}}
	type versionOf func() rota.ID
	var typ, template, schedule versionOf = func() rota.ID { t, _ := y.s.Type(y.ctx, "mail"); return t.Version },
		func() rota.ID { return y.template("report").Version }, func() rota.ID { return y.schedule("nightly").Version }
	for _, one := range []struct {
		current versionOf
		command func(version *rota.ID) rota.Command
	}{
		{typ, func(v *rota.ID) rota.Command {
			return &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true, Version: v}
		}},
		{schedule, func(v *rota.ID) rota.Command {
			return &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly", Version: v}
		}},
		{schedule, func(v *rota.ID) rota.Command {
			return &rota.Backfill{Meta: y.ids.meta(), Schedule: "nightly", Times: times, Version: v}
		}},
		{schedule, func(v *rota.ID) rota.Command {
			return &rota.SwitchSchedule{Meta: y.ids.meta(), Name: "nightly", State: rota.SchedulePaused, Version: v}
		}},
		{template, func(v *rota.ID) rota.Command {
			return &rota.Archive{Meta: y.ids.meta(), Name: "report", Version: v}
		}},
		{template, func(v *rota.ID) rota.Command {
			return &rota.Unarchive{Meta: y.ids.meta(), Name: "report", Version: v}
		}},
		{func() rota.ID { return y.job(waiting.ID).Version }, func(v *rota.ID) rota.Command {
			return &rota.Cancel{Meta: y.ids.meta(), JobID: waiting.ID, Version: v}
		}},
		{func() rota.ID { return y.job(dead.ID).Version }, func(v *rota.ID) rota.Command {
			return &rota.Redrive{Meta: y.ids.meta(), JobID: dead.ID, Version: v}
		}},
	} {
		y.wantField(rota.Conflict, "version", one.command(new(y.ids.next())))
		command := one.command(new(one.current()))
		do[rota.Reply](y, command)
		text := command.Head().ID.String()
		y.declareType("mail", rota.TypeSpec{Description: text})
		y.declareTemplate("report", rota.TemplateSpec{Description: text})
		if y.template("report").State == rota.TemplateActive {
			y.declare("nightly", rota.ScheduleSpec{Description: text})
		}
		before := y.dump()
		do[rota.Reply](y, command)
		y.wantUnchanged(before)
	}
	y.wantNoViolations()
}
