package storetest

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

func secretRaces() []race {
	either := func(*story, rota.Result, rota.Result) {}
	return []race{
		{"two first secrets of different keys: one is refused", firstAgainstFirst, oneRefused},
		{"the delete of the last secret against a secret of another key", deleteAgainstOtherKey, either},
		{"the drop of the last secret against a secret of another key", dropAgainstOtherKey, either},
		{"two secrets of one name: the one that was set last is kept", setAgainstSet, either},
		{"two secrets at the limit of a template: one is refused", setAgainstSetAtLimit, oneRefused},
		{"two secrets that are too long together: one is refused", setAgainstSetAtSize, oneRefused},
		{"two deletes of a secret: one is refused", deleteAgainstDelete, oneRefused},
		{"a secret against a promotion of the key: it is refused or sealed again later", putAgainstPromote, rewrappedLater},
		{"a secret against a drop of its template: it is refused or gone", putAgainstDrop, secretsGone("nightly")},
		{"a secret against a recreated template: it is gone or of the new one", putAgainstRecreate, either},
		{"a new ciphertext against a changed value: the value is kept", rewrapAgainstPut, valueKept},
		{"a new ciphertext against a delete: the secret is gone", rewrapAgainstDelete, secretsGone("backup")},
		{"a new ciphertext against a drop: the secrets are gone", rewrapAgainstDrop, secretsGone("nightly")},
		{"a new ciphertext against a recreated template: the secrets are gone", rewrapAgainstRecreate, secretsGone("backup")},
		{"a new ciphertext against a promotion of its key", rewrapAgainstPromote, rewrappedLater},
		{"two new ciphertexts of a value: one is kept", rewrapAgainstRewrap, oneRewrapped},
		{"two promotions of one key: one changes it", promoteAgainstPromote, onePromoted},
		{"two promotions of different keys: one is refused", promoteAgainstOther, oneRefused},
	}
}

const keyThree = "00112233445566ff"

// otherKeyCommand sets a secret that is sealed by the second key.
func (y *story) otherKeyCommand(template, key, text string) *rota.PutSecret {
	c := y.secretCommand(template, key, "")
	c.Sealed = sealedBy(keyTwo, text)
	return c
}

func (y *story) deleteSecretCommand(template, key string) *rota.DeleteSecret {
	return &rota.DeleteSecret{Meta: y.ids.meta(), Template: template, Key: key}
}

// defineWithSecrets declares a schedule with a template of its name, and a secret.
func (y *story) defineWithSecret(name string) {
	y.Helper()
	y.define(name, rota.ScheduleSpec{})
	y.putSecret(name, "A")
	y.advance(time.Second)
}

func firstAgainstFirst(y *story) (a, b rota.Command) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	y.declareTemplate("other", rota.TemplateSpec{})
	return y.secretCommand("backup", "A", "one"), y.otherKeyCommand("other", "A", "two")
}

func deleteAgainstOtherKey(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	y.declareTemplate("other", rota.TemplateSpec{})
	return y.deleteSecretCommand("backup", "A"), y.otherKeyCommand("other", "A", "two")
}

func dropAgainstOtherKey(y *story) (a, b rota.Command) {
	y.defineWithSecret("nightly")
	y.declareTemplate("other", rota.TemplateSpec{})
	return y.dropCommand("nightly"), y.otherKeyCommand("other", "A", "two")
}

func setAgainstSet(y *story) (a, b rota.Command) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	first, second := y.secretCommand("backup", "A", "one"), y.secretCommand("backup", "A", "two")
	first.Actor, second.Actor = "ada", "bob"
	return first, second
}

func setAgainstSetAtLimit(y *story) (a, b rota.Command) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	var all []rota.Command
	for i := range rota.SecretsMax - 1 {
		all = append(all, y.secretCommand("backup", fmt.Sprintf("KEY_%d", i), "value"))
	}
	do[*rota.AllDone](y, y.allOf(all...))
	return y.secretCommand("backup", "A", "one"), y.secretCommand("backup", "B", "two")
}

func setAgainstSetAtSize(y *story) (a, b rota.Command) {
	y.declareTemplate("backup", rota.TemplateSpec{})
	for _, key := range []string{"A", "B", "C"} {
		do[*rota.SecretPut](y, y.longSecret("backup", key, rota.SecretBytesMax/4))
	}
	return y.longSecret("backup", "D", rota.SecretBytesMax/4), y.longSecret("backup", "E", rota.SecretBytesMax/4)
}

func deleteAgainstDelete(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	return y.deleteSecretCommand("backup", "A"), y.deleteSecretCommand("backup", "A")
}

func putAgainstPromote(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	return y.secretCommand("backup", "B", "two"), y.promoteCommand()
}

// rewrappedLater seals all values again, and wants the store to need the second key only.
func rewrappedLater(y *story, _, _ rota.Result) {
	y.Helper()
	if c := y.rewrapCommand("again"); len(c.Items) > 0 {
		want(y, "replaced", do[*rota.SecretsRewrapped](y, c).Rewrapped, len(c.Items))
	}
	want(y, "state", y.secretState(), keyTwo+" ["+keyTwo+"]")
}

func putAgainstDrop(y *story) (a, b rota.Command) {
	y.defineWithSecret("nightly")
	return y.secretCommand("nightly", "B", "two"), y.dropCommand("nightly")
}

func putAgainstRecreate(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	return y.secretCommand("backup", "A", "two"), y.recreateTemplateCommand("backup", rota.TemplateSpec{Description: "again"})
}

// secretsGone wants a template to have no secrets.
func secretsGone(template string) func(*story, rota.Result, rota.Result) {
	return func(y *story, _, _ rota.Result) {
		y.Helper()
		all, err := y.s.Secrets(y.ctx, rota.SecretQuery{Template: template})
		want(y, "secrets", len(must(y, "secrets", all, err)), 0)
	}
}

// promoted declares a schedule with a secret of the first key, and promotes the second one.
func (y *story) promoted(name string) *rota.RewrapSecrets {
	y.Helper()
	y.defineWithSecret(name)
	do[*rota.SecretKeyPromoted](y, y.promoteCommand())
	return y.rewrapCommand("again")
}

func rewrapAgainstPut(y *story) (a, b rota.Command) {
	return y.promoted("backup"), y.otherKeyCommand("backup", "A", "new")
}

func valueKept(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "stored", y.secret("backup", "A").Sealed, sealedBy(keyTwo, "new"))
}

func rewrapAgainstDelete(y *story) (a, b rota.Command) {
	return y.promoted("backup"), y.deleteSecretCommand("backup", "A")
}

func rewrapAgainstDrop(y *story) (a, b rota.Command) {
	return y.promoted("nightly"), y.dropCommand("nightly")
}

func rewrapAgainstRecreate(y *story) (a, b rota.Command) {
	return y.promoted("backup"), y.recreateTemplateCommand("backup", rota.TemplateSpec{Description: "again"})
}

func rewrapAgainstPromote(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	return y.rewrapCommand("again"), y.promoteCommand()
}

func rewrapAgainstRewrap(y *story) (a, b rota.Command) {
	return y.promoted("backup"), y.rewrapCommand("once more")
}

func oneRewrapped(y *story, a, b rota.Result) {
	y.Helper()
	want(y, "replaced", a.Reply.(*rota.SecretsRewrapped).Rewrapped+b.Reply.(*rota.SecretsRewrapped).Rewrapped, 1)
}

func promoteAgainstPromote(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	return y.promoteCommand(), y.promoteCommand()
}

func onePromoted(y *story, a, b rota.Result) {
	y.Helper()
	want(y, "changed by both", a.Reply.(*rota.SecretKeyPromoted).Changed == b.Reply.(*rota.SecretKeyPromoted).Changed, false)
}

func promoteAgainstOther(y *story) (a, b rota.Command) {
	y.defineWithSecret("backup")
	other := y.promoteCommand()
	other.To = keyThree
	return y.promoteCommand(), other
}
