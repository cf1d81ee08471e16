package rota_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestNamesThatAURLCannotContainAreRefusedForNewThings(t *testing.T) {
	for _, name := range []string{".", ".."} {
		meta := rota.NewMeta("ada")
		for _, command := range []rota.Command{
			&rota.PutType{Meta: meta, Name: name},
			&rota.PutTemplate{Meta: meta, Name: name, Spec: rota.TemplateSpec{Type: "noop"}},
			&rota.PutSchedule{Meta: meta, Name: name, Spec: rota.ScheduleSpec{Template: "t", Every: time.Hour}},
		} {
			var e *rota.Error
			if err := command.Validate(); !errors.As(err, &e) || e.Field != "name" || !strings.Contains(e.Reason, "URL") {
				t.Errorf("%s %s: %v", command.Verb(), name, err)
			}
		}
		// A store of an earlier version may have such names.
		for _, command := range []rota.Command{
			&rota.Fire{Meta: meta, Schedule: name, Version: rota.NewID(), Expect: time.Now()},
			&rota.SwitchType{Meta: meta, Name: name}, &rota.Archive{Meta: meta, Name: name}, &rota.Unarchive{Meta: meta, Name: name},
			&rota.SwitchSchedule{Meta: meta, Name: name, State: rota.ScheduleDisabled}, &rota.DeleteSchedule{Meta: meta, Name: name},
			&rota.Drop{Meta: meta, Name: name}, &rota.SetOwner{Meta: meta, Name: name, Owner: rota.AdminUser},
		} {
			if err := command.Validate(); err != nil {
				t.Errorf("%s %s: %v", command.Verb(), name, err)
			}
		}
	}
	if err := (&rota.PutType{Meta: rota.NewMeta("ada"), Name: "..."}).Validate(); err != nil {
		t.Error(err)
	}
}
