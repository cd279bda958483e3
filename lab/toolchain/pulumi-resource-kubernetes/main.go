// Command pulumi-resource-kubernetes is the Kubernetes provider plugin of the lab.
//
// The provider's own main package embeds two files that its Go module does not carry under the names it wants;
// the build copies them from the module (schema.json, terraform-mapping.json) beside this file.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
