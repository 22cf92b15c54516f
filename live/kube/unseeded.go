//go:build !seeded

package kube

import "context"

// What is built without the tag has none of the defects that tests put in; see seeded.go.
const (
	bugStale     = false
	bugUnfenced  = false
	bugForgetful = false
	bugHasty     = false
	bugCareless  = false
	bugBlind     = false
	bugGreedy    = false
	bugEager     = false
	bugImpatient = false
	bugDeaf      = false
	bugStubborn  = false
	bugFearful   = false
	bugClinging  = false
	bugPatient   = false
	bugPressing  = false
	bugTrusting  = false
	bugHurried   = false
)

// answers is used with a defect only.
func (*World) answers(context.Context) bool { return true }
