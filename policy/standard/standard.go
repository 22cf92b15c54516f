// Package standard registers all placers, and the policies that oxgang-scheduler offers. Package policy/rivals
// registers further policies, from papers.
package standard

import (
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/placement/pack"
	"github.com/oxgang/oxgang/policy/placement/submesh"
	"github.com/oxgang/oxgang/policy/registry"

	// Each of these registers its policies.
	_ "github.com/oxgang/oxgang/policy/boa"
	_ "github.com/oxgang/oxgang/policy/kueue"
	_ "github.com/oxgang/oxgang/policy/lyra"
	_ "github.com/oxgang/oxgang/policy/multifactor"
	_ "github.com/oxgang/oxgang/policy/oxgang"
	_ "github.com/oxgang/oxgang/policy/queue" // fifo, easy, srtf, las, tiresias
	_ "github.com/oxgang/oxgang/policy/shockwave"
	_ "github.com/oxgang/oxgang/policy/sia"
	_ "github.com/oxgang/oxgang/policy/synergy" // synergy, drf, tetris
)

func init() {
	registry.AddPlacers(
		registry.Placer{Name: "submesh", Doc: "Sia's rules; a part of a job that fits no node is spread over several as a last resort.", New: newSubmesh},
		registry.Placer{Name: "submesh-whole", Doc: "Sia's rules; a job with a part that fits no node waits.", New: newWhole},
		registry.Placer{Name: "best-fit", Doc: "Best-fit decreasing; running jobs never move.", New: newBestFit},
		registry.Placer{Name: "pack", Doc: "Best fit by GPUs, CPUs and memory; running jobs move if the gain exceeds the cost.", New: newPack},
		registry.Placer{Name: "racks", Doc: "Like submesh; brings each job on several nodes into one NVLink domain or rack, if nodes have these.", New: newRacks},
	)
}

func newSubmesh(registry.PlacerOptions) (placement.Placer, error) {
	return submesh.New(submesh.DefaultOptions()), nil
}

func newWhole(registry.PlacerOptions) (placement.Placer, error) {
	return submesh.New(submesh.Options{}), nil
}

func newBestFit(registry.PlacerOptions) (placement.Placer, error) { return placement.NewBestFit(), nil }

func newPack(o registry.PlacerOptions) (placement.Placer, error) {
	return pack.New(pack.Options{Penalty: o.Penalty})
}

func newRacks(registry.PlacerOptions) (placement.Placer, error) {
	return placement.NewRacks(submesh.New(submesh.DefaultOptions())), nil
}
