package secret_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
)

// TestJobOlderThanItsTemplateGetsNoSecrets: a job of a definition that was recreated does not get the secrets of the next one.
func TestJobOlderThanItsTemplateGetsNoSecrets(t *testing.T) {
	ctx := context.Background()
	store, ring := open(t), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: store}
	enqueue := func() *rota.Job {
		t.Helper()
		done, err := rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Template: "backup"}}})
		if err != nil {
			t.Fatal(err)
		}
		return done.Jobs[0].Job
	}
	put(t, store, ring, "A", "value")
	job := enqueue()
	if value, err := vault.Secret(ctx, job, "A"); err != nil || value != "value" {
		t.Fatalf("%q, %v", value, err)
	}
	time.Sleep(time.Millisecond) // the next definition begins later
	c := &rota.PutTemplate{Meta: rota.NewMeta(""), Name: "backup", Mode: rota.PutReplace, Recreate: true, Spec: rota.TemplateSpec{Type: "exec"}}
	if _, err := rota.Do[*rota.TemplatePut](ctx, store, c); err != nil {
		t.Fatal(err)
	}
	put(t, store, ring, "A", "other value")
	if value, err := vault.Secret(ctx, job, "A"); rota.CodeOf(err) != rota.NotFound || value != "" {
		t.Errorf("%q, %v", value, err)
	}
	if values, err := vault.Secrets(ctx, job); err != nil || len(values) != 0 {
		t.Errorf("%v, %v", values, err)
	}
	if values, err := vault.Secrets(ctx, enqueue()); err != nil || values["A"] != "other value" {
		t.Errorf("%v, %v", values, err)
	}
	if _, err := vault.Secret(ctx, &rota.Job{ID: rota.NewID(), Type: "exec"}, "A"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("a job without a template: %v", err)
	}
}

// TestJobOfFormerOwnerGetsNoSecrets: the params of a job are those of the user that it runs for, who must not receive what the
// next owner of the template sets.
func TestJobOfFormerOwnerGetsNoSecrets(t *testing.T) {
	ctx := context.Background()
	store, ring := open(t), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: store}
	must(t, store, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "alice", Kind: rota.KindUser, Mode: rota.PutCreate})
	put(t, store, ring, "A", "value")
	before, redriven := enqueueBackup(t, store), enqueueBackup(t, store)
	must(t, store, &rota.Cancel{Meta: rota.NewMeta(""), JobID: redriven.ID})
	must(t, store, &rota.SetOwner{Meta: rota.NewMeta(""), Kind: rota.ExpectTemplate, Name: "backup", Owner: "alice"})
	again := must(t, store, &rota.Redrive{Meta: rota.NewMeta("alice"), JobID: redriven.ID}).(*rota.Redriven).Job
	ofOther := *enqueueBackup(t, store)
	ofOther.RedriveOf = redriven.ID
	for what, job := range map[string]*rota.Job{"of the former owner": before, "redriven": again, "that follows one of the former owner": &ofOther} {
		value, err := vault.Secret(ctx, job, "A")
		if rota.CodeOf(err) != rota.Denied || !rota.IsPermanent(err) || value != "" || !strings.Contains(err.Error(), "rota job create") {
			t.Errorf("a job %s: %q, %v", what, value, err)
		}
		if values, err := vault.Secrets(ctx, job); rota.CodeOf(err) != rota.Denied || len(values) != 0 {
			t.Errorf("a job %s: %v, %v", what, values, err)
		}
	}
	if value, err := vault.Secret(ctx, enqueueBackup(t, store), "A"); err != nil || value != "value" {
		t.Errorf("a job of the new owner: %q, %v", value, err)
	}
}

// TestJobOfAnothersScheduleGetsSecrets: it runs for the owner of the template, who has decided what it runs.
func TestJobOfAnothersScheduleGetsSecrets(t *testing.T) {
	store, ring := open(t), load(t, t.TempDir())
	vault := &secret.Vault{Keyring: ring, Store: store}
	must(t, store, &rota.PutPrincipal{Meta: rota.NewMeta(""), Name: "bob", Kind: rota.KindUser, Mode: rota.PutCreate})
	must(t, store, &rota.GrantPrivileges{Meta: rota.NewMeta(""), To: []string{"bob"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "backup"})
	must(t, store, &rota.PutSchedule{
		Meta: rota.NewMeta("bob"), Name: "weekly", Spec: rota.ScheduleSpec{Template: "backup", Every: time.Hour}, Next: time.Now().AddDate(1, 0, 0),
	})
	put(t, store, ring, "A", "value")
	job := must(t, store, &rota.Trigger{Meta: rota.NewMeta("bob"), Schedule: "weekly"}).(*rota.Triggered).Jobs[0]
	if value, err := vault.Secret(context.Background(), job, "A"); err != nil || value != "value" {
		t.Errorf("%q, %v", value, err)
	}
}

func must(t *testing.T, store rota.Store, c rota.Command) rota.Reply {
	t.Helper()
	reply, err := rota.Do[rota.Reply](context.Background(), store, c)
	if err != nil {
		t.Fatalf("%s: %v", c.Verb(), err)
	}
	return reply
}

func enqueueBackup(t *testing.T, store rota.Store) *rota.Job {
	t.Helper()
	c := &rota.Enqueue{Meta: rota.NewMeta("bob"), Jobs: []rota.NewJob{{Template: "backup"}}}
	return must(t, store, c).(*rota.Enqueued).Jobs[0].Job
}

// countingStore counts reads of secrets and templates.
type countingStore struct {
	rota.Store
	reads int
}

func (s *countingStore) Secrets(ctx context.Context, q rota.SecretQuery) ([]*rota.Secret, error) {
	s.reads++
	return s.Store.Secrets(ctx, q)
}

func (s *countingStore) Template(ctx context.Context, name string) (*rota.Template, error) {
	s.reads++
	return s.Store.Template(ctx, name)
}

// TestBatchOpensTheSecretsOfATemplateOnce: the answer to a claim may have hundreds of jobs of one template.
func TestBatchOpensTheSecretsOfATemplateOnce(t *testing.T) {
	ctx := context.Background()
	store, ring := &countingStore{Store: open(t)}, load(t, t.TempDir())
	put(t, store, ring, "A", "value")
	batch := (&secret.Vault{Keyring: ring, Store: store}).Batch()
	var first map[string]string
	for range 3 {
		values, err := batch.Secrets(ctx, enqueueBackup(t, store))
		if err != nil || values["A"] != "value" {
			t.Fatalf("%v, %v", values, err)
		}
		if first == nil {
			first = values
		}
		if reflect.ValueOf(values).Pointer() != reflect.ValueOf(first).Pointer() {
			t.Error("the values were opened again")
		}
	}
	if store.reads != 2 {
		t.Errorf("%d reads", store.reads)
	}
}
