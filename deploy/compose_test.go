package deploy

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// composeFile is the part of a compose file that the tests read.
type composeFile struct {
	Name     string
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		Environment map[string]string
		Command     []string
		Volumes     []string
		Ports       []string
		Tmpfs       []string
		DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
		Healthcheck struct {
			Test              []string
			Interval, Timeout string
			Retries           int
		}
		StopGracePeriod string   `yaml:"stop_grace_period"`
		ReadOnly        bool     `yaml:"read_only"`
		CapDrop         []string `yaml:"cap_drop"`
		SecurityOpt     []string `yaml:"security_opt"`
		Restart         string
	}
	Volumes map[string]any
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	text, err := os.ReadFile("docker/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file composeFile
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return file
}

// required matches ${NAME:?message}, a variable without a default.
var required = regexp.MustCompile(`\$\{([A-Z_]+):\?[^}]+\}`)

// interpolate replaces the variables of the compose file, as docker compose does.
func interpolate(t *testing.T, environment, values map[string]string) map[string]string {
	t.Helper()
	result := maps.Clone(environment)
	for key, text := range result {
		result[key] = required.ReplaceAllStringFunc(text, func(reference string) string {
			return values[required.FindStringSubmatch(reference)[1]]
		})
		if strings.Contains(result[key], "$") {
			t.Errorf("%s has a variable with a default or in another form: %s", key, text)
		}
	}
	return result
}

// TestComposeSecretsHaveNoDefault: a password that is the same everywhere is none.
func TestComposeSecretsHaveNoDefault(t *testing.T) {
	file := readCompose(t)
	for service, key := range map[string]string{"postgres": "POSTGRES_PASSWORD", "rota": "PGPASSWORD"} {
		if text := file.Services[service].Environment[key]; !required.MatchString(text) {
			t.Errorf("%s of %s is %q", key, service, text)
		}
	}
	if text := file.Services["rota"].Environment["ROTA_ADMIN_TOKEN"]; !required.MatchString(text) {
		t.Errorf("the token is %q", text)
	}
}

// TestComposeServicesFitTheImage checks what docker compose would only notice when it runs.
func TestComposeServicesFitTheImage(t *testing.T) {
	file := readCompose(t)
	rota, postgres := file.Services["rota"], file.Services["postgres"]
	if _, err := os.Stat(path.Join("docker", rota.Build.Context, rota.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path.Join("docker", rota.Build.Context, "go.mod")); err != nil {
		t.Error(err)
	}
	if rota.DependsOn["postgres"].Condition != "service_healthy" || len(postgres.Healthcheck.Test) == 0 {
		t.Error("rota does not wait until the database accepts connections")
	}
	// The image of PostgreSQL initialises a new volume with a server that listens on its Unix socket only.
	if !slices.Contains(postgres.Healthcheck.Test, "--host=127.0.0.1") {
		t.Errorf("the health check %v succeeds while the database is initialised", postgres.Healthcheck.Test)
	}
	if len(rota.Volumes) > 0 {
		t.Error("several containers would share a data directory")
	}
	for _, volume := range postgres.Volumes {
		name, _, _ := strings.Cut(volume, ":")
		if _, declared := file.Volumes[name]; !declared {
			t.Errorf("the volume %s is not declared", name)
		}
	}
	for _, port := range rota.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") {
			t.Errorf("the port %s is open to other machines, without encryption", port)
		}
	}
	if !rota.ReadOnly || len(rota.CapDrop) != 1 || rota.CapDrop[0] != "ALL" || len(rota.Tmpfs) != 1 || rota.Tmpfs[0] != "/tmp" {
		t.Error("the container of rota has more rights than it needs")
	}
}

// TestComposeRunsTwoServersOnPostgreSQL runs two containers of the service, as docker compose up --scale rota=2 does, with
// their environment, on a real PostgreSQL.
func TestComposeRunsTwoServersOnPostgreSQL(t *testing.T) {
	m, file := buildImage(t), readCompose(t)
	cluster := pgtest.Shared(t)
	target, err := url.Parse(cluster.URL(cluster.NewDatabase(t, "")))
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(target.Path, "/")
	postgres := interpolate(t, file.Services["postgres"].Environment, map[string]string{"POSTGRES_PASSWORD": "p4ss-w0rd"})
	user, password := postgres["POSTGRES_USER"], postgres["POSTGRES_PASSWORD"]
	pgtest.Query(t, target.String(), "DO $$ BEGIN CREATE ROLE "+user+" LOGIN PASSWORD '"+password+"'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
	pgtest.Query(t, target.String(), `ALTER DATABASE "`+database+`" OWNER TO `+user)

	ready := file.Services["postgres"].Healthcheck.Test
	check := exec.Command(ready[1], ready[2:]...)
	check.Env = append(os.Environ(), "PGPORT="+target.Port())
	if out, err := check.CombinedOutput(); err != nil || ready[0] != "CMD" {
		t.Errorf("the health check of the database: %v: %s", err, out)
	}

	token := strings.Repeat("0123456789abcdef", 4)
	env := interpolate(t, file.Services["rota"].Environment, map[string]string{"POSTGRES_PASSWORD": password, "ROTA_ADMIN_TOKEN": token})
	env["ROTA_STORE"] = strings.Replace(env["ROTA_STORE"], "@postgres:5432/"+postgres["POSTGRES_DB"], "@"+target.Host+"/"+database, 1)
	if !strings.Contains(env["ROTA_STORE"], database) {
		t.Fatalf("the store is %s, and the database is %s", env["ROTA_STORE"], postgres["POSTGRES_DB"])
	}
	maps.Copy(env, free)
	var addresses []string
	for _, name := range []string{"1", "2"} {
		data := m.newVolume(t, name)
		s := startServer(t, m.command(t, data, env, append(m.entrypoint, m.cmd...)...))
		defer s.stop(t, syscall.SIGTERM)
		if out, code := m.run(t, data, nil, m.health...); code != 0 {
			t.Fatalf("the health check of server %s exits with %d: %s\n%s", name, code, out, s.log.String())
		}
		addresses = append(addresses, m.httpAddress(t, data))
	}

	client := func(address string, args ...string) string {
		t.Helper()
		args = append([]string{m.entrypoint[0]}, append(args, "--url", address)...)
		out, code := m.run(t, "/tmp", map[string]string{"ROTA_TOKEN": token}, args...)
		if code != 0 {
			t.Fatalf("%v exits with %d: %s", args, code, out)
		}
		return out
	}
	client(addresses[0], "template", "create", "shared", "--type", "noop")
	if out := client(addresses[1], "template", "list"); !strings.Contains(out, "shared") {
		t.Errorf("the second server does not know what the first one stored:\n%s", out)
	}
}

// newVolume creates a data directory as the VOLUME of the image does for each container.
func (m *image) newVolume(t *testing.T, name string) string {
	t.Helper()
	data := "/data" + name
	if err := os.Mkdir(m.root+data, 0o700); err != nil {
		t.Fatal(err)
	}
	if uid, gid := ids(m.user); os.Getuid() == 0 {
		if err := os.Chown(m.root+data, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return data
}
