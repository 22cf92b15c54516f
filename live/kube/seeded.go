//go:build seeded

package kube

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Defects that a test puts into a build of its own (-tags seeded), to see that it finds them.
// The variable OXGANG_BUG names those that are on, with commas between.
var (
	bugStale     = seeded("stale")     // a new leader does not wait for its watches
	bugUnfenced  = seeded("unfenced")  // it takes no epoch
	bugForgetful = seeded("forgetful") // it takes nothing over from the Plan, and plans anew
	bugHasty     = seeded("hasty")     // a job starts before the pods of others are gone
	bugCareless  = seeded("careless")  // pods go to their nodes whoever has come there since the job was started
	bugBlind     = seeded("blind")     // the pods of others are not subtracted from nodes
	bugGreedy    = seeded("greedy")    // nodes are ordered as if none were on their way
	bugEager     = seeded("eager")     // nodes on loan go back with pods of ours on them
	bugImpatient = seeded("impatient") // it acts on a plan before that is written
	bugDeaf      = seeded("deaf")      // nodes stay as they were when the world was opened
	bugStubborn  = seeded("stubborn")  // a job starts before its own pods are gone, on a node that is lost say
	bugFearful   = seeded("fearful")   // where the API server does not answer, a node is taken to be gone
	bugClinging  = seeded("clinging")  // jobs whose objects are gone keep what they hold
	bugPatient   = seeded("patient")   // pods that are refused are waited for
	bugPressing  = seeded("pressing")  // what fails is tried again at once
	bugTrusting  = seeded("trusting")  // that watches have missed something is found, and nothing is done
	bugHurried   = seeded("hurried")   // no defect: what the watches show is verified every 5 s
)

// answers reports whether the API server does, within a second.
func (w *World) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return w.direct.List(ctx, &corev1.NodeList{}) == nil
}

func seeded(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("OXGANG_BUG"), ","), name)
}
