package access

import (
	"context"
	"reflect"
)

// Stamp is what an identity may do at a moment. What was read with one stamp must not be shown with another.
type Stamp struct{ rights *rights }

// Stamp returns what an identity may do now. An error of which Ended is true says why it is not valid any more.
func (d *Directory) Stamp(ctx context.Context, id Identity) (Stamp, error) {
	a, err := d.authority(ctx, id)
	if err != nil {
		return Stamp{}, err
	}
	return Stamp{a.rights}, nil
}

// Equal reports whether the rights are the same.
func (s Stamp) Equal(other Stamp) bool {
	return s.rights == other.rights || reflect.DeepEqual(s.rights, other.rights)
}
