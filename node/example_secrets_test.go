package node_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
)

// A program opens the secrets of its queue by a Vault. With node.Serve, ServeConfig.API.Vault lets rota secret set seal them.
func Example_secrets() {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	keyring, err := secret.Load(dir, os.Getenv(secret.Env)) // master.key, which the first secret creates
	if err != nil {
		log.Fatal(err)
	}
	vault := &secret.Vault{Keyring: keyring, Store: store}

	reg := engine.NewRegistry()
	reg.Func("report", rota.TypeSpec{}, func(ctx context.Context, _ *rota.Job) error {
		token, err := engine.Secret(ctx, "API_TOKEN")
		if err != nil {
			return err
		}
		return engine.Result(ctx, map[string]any{"bytes": len(token), "token": token})
	})
	queue := engine.New(rota.New(store), reg, engine.Config{Secrets: vault, Logger: slog.New(slog.DiscardHandler)})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- queue.Run(ctx) }()
	<-queue.Ready()
	job, err := reportWithSecret(ctx, store, vault)
	for err == nil && !job.Ended() {
		time.Sleep(time.Millisecond)
		job, err = store.Job(ctx, job.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.State(), string(job.Run.Result))
	stop()
	if err := <-ended; err != nil {
		log.Fatal(err)
	}
	// Output: completed {"bytes":9,"token":"***"}
}

// reportWithSecret sets a secret of a template and enqueues a job of it.
func reportWithSecret(ctx context.Context, store rota.Store, vault *secret.Vault) (*rota.Job, error) {
	if _, err := rota.Do[*rota.TemplatePut](ctx, store, &rota.PutTemplate{Meta: rota.NewMeta("app"), Name: "daily", Spec: rota.TemplateSpec{Type: "report"}}); err != nil {
		return nil, err
	}
	sealed, err := vault.SealFor(ctx, "daily", "API_TOKEN", []byte("swordfish"))
	if err != nil {
		return nil, err
	}
	if _, err := rota.Do[*rota.SecretPut](ctx, store, &rota.PutSecret{Meta: rota.NewMeta("app"), Template: "daily", Key: "API_TOKEN", Sealed: sealed}); err != nil {
		return nil, err
	}
	enqueued, err := rota.Do[*rota.Enqueued](ctx, store, &rota.Enqueue{Meta: rota.NewMeta("app"), Jobs: []rota.NewJob{{Template: "daily"}}})
	if err != nil {
		return nil, err
	}
	return enqueued.Jobs[0].Job, nil
}
