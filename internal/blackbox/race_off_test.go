//go:build !race

package blackbox

const raceBuild = false
