"""erfc and gelu: exp(-z**2) times a scaled complement that varies slowly."""

from __future__ import annotations

from ttnn_jit.kernels.exponential import Exponential
from ttnn_jit.kernels.primitives import Table
from ttnn_jit.ops.emit import Value

# exp(z**2) * erfc(z): relative error 4.9e-8, most of it from rounding the constant terms.
SCALED_COMPLEMENT = tuple(
    Table.of_floats(f"scaled_complement_{i}", values)
    for i, values in enumerate(
        (
            (
                0.36782291531562805, 0.284972220659256, 0.23108725249767303, 0.19366209208965302,
                0.15529365837574005, 0.12248480319976807, 0.10096222162246704, 0.08580566942691803,
                0.06998516619205475, 0.05614099279046059, 0.04643315449357033, 0.03982319310307503,
                0.8732218742370605, 0.6858572363853455, 0.5568138957023621, 0.4643115699291229,
            ),
            (
                -0.20882189273834229, -0.1309763342142105, -0.08848650008440018, -0.06323763728141785,
                -0.04132357984781265, -0.026015928015112877, -0.017794765532016754, -0.012905455194413662,
                -0.008616510778665543, -0.005559312179684639, -0.005626608617603779, -0.004408098757266998,
                -0.9100737571716309, -0.6139862537384033, -0.4323618412017822, -0.3158338963985443,
            ),
            (
                0.10679566115140915, 0.055767420679330826, 0.03199433535337448, 0.019759761169552803,
                0.010660999454557896, 0.005413187202066183, 0.00309078604914248, 0.0019202536204829812,
                0.0010531035950407386, 0.0005478690145537257, -0.0022475856821984053, -0.002070758957415819,
                0.759430468082428, 0.45560869574546814, 0.28657132387161255, 0.1879718005657196,
            ),
            (
                -0.050214674323797226, -0.022261250764131546, -0.01100243255496025, -0.005934466607868671,
                -0.0026728431694209576, -0.0011045621940866113, -0.0005294272559694946, -0.0002827481657732278,
                -0.0001277653209399432, -5.37399246240966e-05, -0.0012305490672588348, -0.0010753236711025238,
                -0.5433957576751709, -0.2954150140285492, -0.16881638765335083, -0.10091789811849594,
            ),
            (
                0.022008400410413742, 0.008252276107668877, 0.003549329936504364, 0.0016712016658857465,
                0.0006537379813380539, 0.00022071452985983342, 9.184186637867242e-05, 4.0750641346676275e-05,
                1.5394816728075966e-05, 5.251696165942121e-06, 0.00062266003806144, 0.0005548727349378169,
                0.3510352373123169, 0.17303059995174408, 0.09323598444461823, 0.04735468327999115,
            ),
            (
                -0.009216690436005592, -0.0030151670798659325, -0.001141390879638493, -0.0004807554360013455,
                -0.00015836204693187028, -4.398826422402635e-05, -1.5188130419119261e-05, -5.924378456256818e-06,
                -1.8886274801843683e-06, -4.945277964907291e-07, 0.0008011084864847362, 0.0007100004586391151,
                -0.20317061245441437, -0.09300901740789413, -0.04600592330098152, -0.02262238599359989,
            ),
            (
                0.0036111080553382635, 0.0025753595400601625, 0.001061841961927712, 0.0006329889292828739,
                3.43757783412002e-05, 9.787773706193548e-06, -3.684276180138113e-06, 2.012818868024624e-06,
                2.2453112080711435e-07, 6.385737094660726e-08, 0.0002163167082471773, 0.0001911930157802999,
                -0.10876801609992981, 0.020395370200276375, -0.09034951776266098, 0.11282937228679657,
            ),
        )
    )
)  # fmt: skip
INVERSE_SQRT_2 = 0.7071067811865476


class ErrorFunction(Exponential):
    """erfc and gelu, good in the far tails too."""

    def erfc(self, a: Value) -> Value:
        """1 - erf(a): the digits of the right tail are kept, to the last denormal."""
        z = self.at_most(10.3, self.abs(a))
        complement, n = self._complement_and_power(z, z, 1.0)
        tail = self.scale(complement, n)
        return self.select(self.lt(a, self.const(0.0)), self.sub(self.const(2.0), tail), tail)

    def gelu(self, a: Value) -> Value:
        """A times the normal distribution function of a; NaN at -infinity, as the product is."""
        z = self.at_most(14.6, self.abs(a))
        complement, n = self._complement_and_power(z, self.mul(z, self.const(INVERSE_SQRT_2)), 0.5)
        factor = self.at_most(20.0, self.at_least(-20.0, a))
        tail = self.scale(self.mul(self.mul(factor, self.const(0.5)), complement), n)
        result = self.select(self.le(a, self.const(0.0)), tail, self.sub(a, tail))
        return self.select(self.eq(a, self.const(float("-inf"))), self.const(float("nan")), result)

    def _complement_and_power(self, x: Value, z: Value, factor: float) -> tuple[Value, Value]:
        """(c, n) with erfc(sqrt(factor) * x) = c * 2**n; z is sqrt(factor) * x, rounded; factor a power of two."""
        square = self.mul(x, x)
        square_low = self.fma(x, x, self.neg(square))
        s, n = self.exp_minus_one_and_power(
            self.mul(square, self.const(-factor)), self.mul(square_low, self.const(-factor))
        )
        scaled = self.piecewise(z, SCALED_COMPLEMENT)
        return self.fma(scaled, s, scaled), n
