package planstore

import (
	"math"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/policy"
)

// Prices converts the GPU prices of a policy's plan for a Plan object.
func Prices(p *policy.Plan) []v1alpha1.TypePrice {
	if p == nil {
		return nil
	}
	var all []v1alpha1.TypePrice
	for _, price := range p.Prices {
		milli := math.Round(1000 * price.Price)
		if math.Abs(milli) < math.MaxInt64/2 {
			all = append(all, v1alpha1.TypePrice{GPUType: string(price.Type), Milli: int64(milli)})
		}
	}
	return all
}
