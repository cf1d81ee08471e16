package catalog

import "strings"

func databaseName(env *Env, c *Catalog, _ []any) (any, error) {
	if env.Database != "" {
		return env.Database, nil
	}
	return c.subject.Database, nil
}

func userName(env *Env, c *Catalog, _ []any) (any, error) {
	if env.User != "" {
		return env.User, nil
	}
	return c.subject.Owner, nil
}

func currentSchema(env *Env, c *Catalog, _ []any) (any, error) {
	if path := c.namedPath(env); len(path) > 0 {
		return path[0], nil
	}
	return nil, nil
}

func currentSchemas(env *Env, c *Catalog, args []any) (any, error) {
	if isTrue(args[0]) {
		return list(c.path(env)...), nil
	}
	return list(c.namedPath(env)...), nil
}

func (e *Env) version(c *Catalog) string {
	if e.Version != "" {
		return e.Version
	}
	return c.subject.Version
}

// setting returns a setting of the session, or else its default.
func (c *Catalog) setting(env *Env, name string) (string, bool) {
	if env.Setting != nil {
		if value, known := env.Setting(name); known {
			return value, true
		}
	}
	name = strings.ToLower(name)
	if name == "server_version" {
		return env.version(c), true
	}
	value, known := c.settings[name]
	return value, known
}

func currentSetting(env *Env, c *Catalog, args []any) (any, error) {
	value, known := c.setting(env, textOf(args[0]))
	switch {
	case known:
		return value, nil
	case len(args) > 1 && isTrue(args[1]):
		return nil, nil
	}
	return nil, fail(stateNoObject, `unrecognized configuration parameter "%s"`, textOf(args[0]))
}

// setConfig changes a setting if the session supports that; otherwise only the current value is
// accepted.
func setConfig(env *Env, c *Catalog, args []any) (any, error) {
	name, value := textOf(args[0]), textOf(args[1])
	switch now, known := c.setting(env, name); {
	case args[0] == nil:
		return nil, fail("22004", "SET requires parameter name")
	case known && now == value:
		return value, nil
	case env.Set != nil:
		return value, env.Set(name, value, isTrue(args[2]))
	}
	return nil, &Error{stateUnsupported, `set_config cannot change the parameter "` + name + `" in this session`, "use SET"}
}
