package codec

import (
	"reflect"

	"github.com/rotajobs/rota"
)

// wireReplies maps wire numbers to replies. A number is never reused.
var wireReplies = [...]reflect.Type{
	1:  reflect.TypeFor[rota.Enqueued](),
	2:  reflect.TypeFor[rota.Readied](),
	3:  reflect.TypeFor[rota.Claimed](),
	4:  reflect.TypeFor[rota.Extended](),
	5:  reflect.TypeFor[rota.Noted](),
	6:  reflect.TypeFor[rota.Finished](),
	7:  reflect.TypeFor[rota.CancelledJob](),
	8:  reflect.TypeFor[rota.Edited](),
	9:  reflect.TypeFor[rota.Moved](),
	10: reflect.TypeFor[rota.Normalised](),
	11: reflect.TypeFor[rota.Reaped](),
	12: reflect.TypeFor[rota.Recovered](),
	13: reflect.TypeFor[rota.AllDone](),
	14: reflect.TypeFor[rota.TypePut](),
	15: reflect.TypeFor[rota.TemplatePut](),
	16: reflect.TypeFor[rota.ThrottlePut](),
	17: reflect.TypeFor[rota.SchedulePut](),
	18: reflect.TypeFor[rota.ScheduleDeleted](),
	19: reflect.TypeFor[rota.Fired](),
	20: reflect.TypeFor[rota.Triggered](),
	21: reflect.TypeFor[rota.Backfilled](),
	22: reflect.TypeFor[rota.GroupEnqueued](),
	23: reflect.TypeFor[rota.CancelledGroup](),
	24: reflect.TypeFor[rota.Reserved](),
	25: reflect.TypeFor[rota.Directed](),
	26: reflect.TypeFor[rota.Released](),
	27: reflect.TypeFor[rota.Expired](),
	28: reflect.TypeFor[rota.Swept](),
	29: reflect.TypeFor[rota.Pruned](),
	30: reflect.TypeFor[rota.Redriven](),
	31: reflect.TypeFor[rota.Remembered](),
	32: reflect.TypeFor[rota.WebhooksPut](),
	33: reflect.TypeFor[rota.Dropped](),
	34: reflect.TypeFor[rota.PrincipalPut](),
	35: reflect.TypeFor[rota.PrincipalDropped](),
	36: reflect.TypeFor[rota.Granted](),
	37: reflect.TypeFor[rota.TokenPut](),
	38: reflect.TypeFor[rota.TokenRevoked](),
	39: reflect.TypeFor[rota.TokensTouched](),
	40: reflect.TypeFor[rota.AccessRecorded](),
	41: reflect.TypeFor[rota.OwnerSet](),
	42: reflect.TypeFor[rota.SecretPut](),
	43: reflect.TypeFor[rota.SecretDeleted](),
	44: reflect.TypeFor[rota.SecretsRewrapped](),
	45: reflect.TypeFor[rota.SecretKeyPromoted](),
}
