// Package train simulates training programs on fake nodes: nothing is computed, but jobs progress at the true
// speed of an application, send messages to the scheduler as rank 0 does, and end when complete.
//
// A job is the pods with the same label oxgang.dev/job-uid. It trains while all pods of a generation run, in a
// time that runs Speed times as fast as real time. Reports contain real seconds, because the scheduler's clock is
// real. Each report saves a checkpoint, from which the next generation resumes. Within a generation, state
// survives if one of its pods does; any change of workers costs a restart delay.
//
// Deviation: after a Notice it saves and pauses, but does not exit with status 75, because its Job would count
// that as a failure; it is deleted anyway.
package train

import (
	"errors"
	"fmt"
	"math"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/workload"
)

// Application is the pod annotation that names the application.
const Application = "rig.oxgang.dev/application"

// Options configure an emulator.
type Options struct {
	Config  *rest.Config // lists Jobs, pods and nodes, patches pods
	Catalog workload.Catalog
	Speed   float64 // training seconds per real second, above 0
	// Types maps product labels of nodes to GPU types; default: the label itself.
	Types map[string]cluster.GPUType

	// URL is the agent API; empty: no messages.
	URL    string
	Client *http.Client                        // nil: http.DefaultClient
	Token  func(p *corev1.Pod) (string, error) // bearer token of a rank 0
}

func (o *Options) validate() error {
	var all []error
	if o.Config == nil {
		all = append(all, errors.New("train: no Config"))
	}
	if !(o.Speed > 0) || math.IsInf(o.Speed, 0) {
		all = append(all, fmt.Errorf("train: speed %v, want a finite number above 0", o.Speed))
	}
	if o.URL != "" && o.Token == nil {
		all = append(all, errors.New("train: URL without Token"))
	}
	return errors.Join(all...)
}
