package api

import "github.com/rotajobs/rota"

// ETag returns the entity tag of a version, as the header ETag has it. Something that was never
// changed has the version 0.
func ETag(version rota.ID) string {
	if version.IsZero() {
		return `"0"`
	}
	return `"` + version.String() + `"`
}

// ETag returns the tag of the version of the job.
func (v Job) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the type.
func (v Type) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the template.
func (v Template) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the schedule.
func (v Schedule) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the limits.
func (v Throttle) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the webhooks.
func (v Webhooks) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the user.
func (v User) ETag() string { return ETag(v.Version.ID) }

// ETag returns the tag of the version of the role.
func (v Role) ETag() string { return ETag(v.Version.ID) }
