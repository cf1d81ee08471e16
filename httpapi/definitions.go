package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/definitions"
)

func (a *server) definitionRoutes() {
	get(a, operation{
		method: "GET", path: "/definitions", id: "get-definitions", scope: readScope, tag: "Server", summary: "Export all definitions",
		description: "Types except the built-in ones, templates, schedules with their states, limits, and the webhooks for all events, " +
			"as one consistent document that PUT accepts unchanged.",
		query:    []param{{name: "secrets", form: formFlag, doc: "Include the secrets of templates and webhooks, sealed: only servers with the same master key accept them. Default false."}},
		response: api.Definitions{}, errors: []int{409}, need: rota.Admin,
	}, getDefinitions)
	route(a, operation{
		method: "PUT", path: "/definitions", id: "put-definitions", scope: writeScope, tag: "Server", summary: "Import definitions",
		description: "A definition that already matches is left unchanged, including its next fire times, and definitions that the document does not name stay. In a named definition an omitted field " +
			"returns to its default, except the state and the owner, which stay. The import is atomic up to 500 changes; a dry run shows the number of steps. " +
			"A schedule whose only time has passed is skipped, and its note says so.",
		query: []param{
			{name: "dry_run", form: formFlag, doc: "Write nothing, and report what would be written."},
			{name: "strict", form: formFlag, doc: "Refuse the document if a schedule's only time has passed, instead of skipping the schedule."},
			{name: "owner", form: formName, doc: "User that gets the definitions whose owner does not exist. Omitted: the document is refused."},
		},
		example: `{"types": {"mail": {"max_retries": 5}}, "templates": {"digest": {"type": "mail", "default_params": {"to": "all"}}},
			"schedules": {"digest": {"template": "digest", "cron": "0 7 * * *", "timezone": "Europe/Berlin"}}, "limits": {"types": {"mail": {"rate": "100/1m"}}}}`,
		bulk: true, secret: true, response: api.DefinitionsPut{}, errors: []int{409}, need: rota.Admin,
	}, putDefinitions)
}

func (c *call) definitionSync() *definitions.Sync {
	s := &definitions.Sync{Store: c.Store, Schemas: c.Schemas, BytesMax: c.BatchMax, Vault: c.Vault, CheckSecret: checkSecret}
	if c.Engine != nil {
		s.Handles = func(typ string) bool { return typ == execType || c.Engine.Handles(typ) } // also servers that run no programs declare exec
	}
	return s
}

func getDefinitions(c *call) (reply, error) {
	if err := c.largeBodies.acquire(c.ctx, largeBodyWait); err != nil { // the document takes as much memory as a large body
		return reply{}, err
	}
	defer c.largeBodies.release()
	document, err := c.definitionSync().Export(c.ctx, c.flag("secrets"))
	if err != nil {
		return reply{}, err
	}
	return ok(document)
}

func putDefinitions(c *call, body *api.Definitions) (reply, error) {
	c.ensureCommandID()
	clearDeadlines(c.w)
	put, err := c.definitionSync().Import(c.ctx, body, definitions.Request{
		ID: c.commandID, Actor: c.actor, Replay: c.replay, Strict: c.flag("strict"), Owner: c.query.Get("owner"),
		Bind: func(r *definitions.Request) error {
			err := c.bindKey()
			r.ID, r.Replay = c.commandID, c.replay
			return err
		},
	}, c.flag("dry_run"))
	if err != nil {
		return reply{}, err
	}
	return ok(put)
}

// lookup returns the definitions that the request names, each read once.
func (c *call) lookup() *definitions.Lookup {
	if !c.looked {
		c.found, c.looked = definitions.NewLookup(c.ctx, c.Store, c.Schemas), true
	}
	return &c.found
}
